// What there is once on the page: its root, its words, short news, and what is said aloud.

import { byId, copy, one } from './dom.js';

export const root = byId('panel'), main = byId('thread');
export const facts = root.dataset;                 // what the server says of the conversation, and what has come of it
export const strings = JSON.parse(byId('strings').textContent);
export const words = (name, ...values) => strings[name].replace(/{}/g, () => values.shift());

// The last row that the page shows.
export const seen = () => +facts.seq;

// A module of its own, which comes with what needs it first. Undefined where it does not: that is said.
const modules = {};
export const use = name => modules[name] ??= import(facts[name]).catch(() => {
  delete modules[name];
  toast(strings.failed);
});

const pause = time => new Promise(over => setTimeout(over, time));
let said = Promise.resolve();

// One polite region, one text after the other: two set in one go would be read as one, or not at all.
export function announce(text) {
  const region = byId('announcer');
  said = said.then(async () => {
    region.textContent = '';
    await pause(60);
    region.textContent = text;
    await pause(600);
  });
}

// Bad news goes by itself; what comes with a link stays.
export function toast(text, link = '') {
  const made = copy('toast');
  one('.b-toast__text', made).append(text, link && ' ', link);
  one('button', made).onclick = () => made.remove();
  byId('toasts').append(made);
  announce(text);
  if (!link) setTimeout(() => made.remove(), 8000);
}
