// What people do, from the moment they do it until the log has it or it is back in their hands (R12).
//
//   queued ──▶ sending ──▶ gone: the log has it
//     ▲  ▲        │ └───▶ slow: no answer for a while, and still tried
//     │  └─ lost ─┴───▶ refused: for good, with a reason ──▶ gone: taken back
//     └──────────── again ───────────────┘
//
// An entry keeps the id that it was made with, however often it is sent (D36), over reloads and a sign-in as well. It
// lies in the memory of the tab: another tab does not send it, and nobody finds it there after the tab was closed.

import { randomId, store, stored } from './dom.js';
import { facts, strings, words } from './page.js';

const BARRED = { queued: /slow/, refused: /slow|sending|refused/, gone: /./ };     // what does not follow
const PATIENCE = 10000;                   // ms: how long a sent message may stay unanswered before the person is told
const PAUSE = 750, CAP = 15000;           // ms: before what failed in passing is sent again, doubled each time

const entries = new Map();                // id -> {message, key, keep, free, state, sent, tries, timer, why}
let report;                               // hears of every change: an entry, and the frame that made it
let wire;                                 // sends a message, while there is a connection

// Whoever signs in takes along what they wrote before; the next person at this tab does not find it.
const shelf = person => `beach:${person}:${facts.session}`;

export const both = (...texts) => texts.filter(Boolean).join('\n\n');

const mine = stored(shelf(facts.person)) ?? {}, left = facts.person && stored(shelf('')) || {};
const memory = { ...left, ...mine, draft: both(left.draft, mine.draft) };                // what is written down: {key, draft, list}
for (const entry of [...left.list ?? [], ...mine.list ?? []]) {
  entries.set(entry.message.id, { ...entry, tries: 0, state: entry.why ? 'refused' : 'queued' });
}
if (left.list) store(shelf(''), null);

// Entries from before a reload are shown one by one; `hear` is told of every change from then on.
export function recall(show, hear) {
  report = hear;
  for (const entry of entries.values()) {
    show(entry);
    // Not sent again by itself: by now the answer may be another one.
    if (entry.message.type === 'decide') refuse(entry, 'whyReloaded');
    // What was against it before is another matter.
    if (unnamed(entry)) { entry.state = 'queued'; refuse(entry, 'whyFiles'); }
  }
}

// Messages, edits and decisions outlive a reload; clicks do not: nobody expects one to happen an hour later.
function save() {
  memory.list = [...entries.values()].filter(entry => entry.keep);
  store(shelf(facts.person), memory);
}

// The half-written text is a part of the conversation: it moves along with the rest.
export const draft = () => memory.draft;

export function keepDraft(text) {
  memory.draft = text;
  save();
}

// For a conversation that is still to be begun.
export function newDraft(text) {
  const at = `beach:${facts.person}:`, there = stored(at);
  store(at, { ...there, draft: both(there?.draft, text) });
}

// By this the server knows a conversation that it was asked for before. `other`: that one is taken.
export const birthKey = other => memory.key = other ? randomId() : memory.key ?? randomId();

// The conversation exists.
export function settleIn(session) {
  store(shelf(facts.person), null);
  facts.session = session;
  delete memory.key;
  save();
}

function move(entry, state, why) {
  if (BARRED[entry.state]?.test(state)) return false;
  enter(entry, state, why);
  return true;
}

function enter(entry, state, why, frame) {
  clearTimeout(entry.timer);
  entry.state = state;
  entry.why = why;
  if (/gone|refused/.test(state)) entry.free?.();
  save();
  report(entry, frame);
  if (/gone|refused/.test(state)) letGo();
}

function end(entry, frame) {
  entries.delete(entry.message.id);
  enter(entry, 'gone', null, frame);
}

// `why`: the server's frame, or the name of a reason of the page's own. Only what was written waits for the person.
function refuse(entry, why) {
  if (!why.message) why = { code: why, message: words(entry.sent ? 'unsure' : 'unsent', words(why, entry.batch)) };
  if (move(entry, 'refused', why) && !/message|edit/.test(entry.message.type)) end(entry);
}

const isMessage = ({ message }) => message.type === 'message';
const unnamed = ({ batch, message }) => batch && !message.files;

// Returns the id. `key`: replaces what has the same key and no answer yet. `keep`: outlives a reload. `button`: counts
// once until there is an answer; no id for another press. `batch`: files that the message has to name first (files.js); after a
// reload only their own names are left.
export function post(message, { key, keep, button, batch } = {}) {
  if (button?.ariaBusy === 'true') return '';
  if (button) button.ariaBusy = true;
  message.id = randomId();
  for (const old of entries.values()) if (key && old.key === key) end(old);
  const entry = { message, key, keep, batch, state: 'queued', tries: 0, free: () => { if (button) button.ariaBusy = false; } };
  entries.set(message.id, entry);
  report(entry);
  // Whoever posts gets the id first.
  if (new Blob([JSON.stringify(message)]).size > facts.frameLimit) setTimeout(refuse, 0, entry, 'too_large');
  else if (wire) transmit(entry);
  else if (message.type === 'stop') refuse(entry, 'whyLost');
  else save();
  return message.id;
}

function transmit(entry) {
  if (!wire || !move(entry, 'sending') || (entry.held = !isNext(entry))) return;
  if (unnamed(entry)) return entry.batch.send(entry, answer, transmit);
  entry.sent = entry.out = true;
  entry.timer = setTimeout(later, PATIENCE, entry, true);
  wire(entry.message);
  letGo();
}

// Messages go in the order in which they were written: what waits for its files, or for another attempt, is not overtaken.
// Whatever else people do is about what they see, and goes at once.
function isNext(entry) {
  for (const before of entries.values()) {
    if (before === entry || !isMessage(entry)) break;
    if (isMessage(before) && !before.out && before.state !== 'refused') return false;
  }
  return true;
}

function letGo() {
  for (const entry of entries.values()) if (entry.held) transmit(entry);
}

// The person asks for it again: same id. Nothing happens when it is on its way already.
export function again(id) {
  const entry = entries.get(id);
  if (entry.state === 'sending') return;
  move(entry, 'queued');
  transmit(entry);
}

// Taken back by the person, replaced by them, or found in the log.
export function withdraw(id) {
  const entry = entries.get(id);
  if (entry) end(entry);
}

export const waiting = () => [...entries.values()].filter(entry => entry.state !== 'refused' && isMessage(entry)).length;

// -- what the connection says ----------------------------------------------------------------------------------------

export function opened(how) {
  wire = how;
  for (const entry of entries.values()) transmit(entry);
}

export function broken() {
  wire = null;
  for (const entry of entries.values()) {
    entry.out = entry.held = false;
    if (entry.state !== 'refused') move(entry, 'queued');
    // By the time it came, it would stop something else.
    if (entry.message.type === 'stop') refuse(entry, 'whyLost');
  }
}

// There will be no connection. A field keeps its text, and what is said of the connection goes for it too.
export function shut(why) {
  for (const entry of entries.values()) if (entry.message.type !== 'edit') refuse(entry, why);
}

// Returns false for what nobody waits for.
export function answer(frame) {
  const entry = entries.get(frame.id);
  if (!entry) return frame.retry;
  if (frame.retry) {
    entry.out = false;
    later(entry);
  } else if (frame.type === 'ack') end(entry, frame);
  else refuse(entry, frame);
  return true;
}

function later(entry, slow = entry.tries > 1) {
  if (entry.state === 'queued' || !move(entry, slow ? 'slow' : 'sending')) return;
  entry.timer = setTimeout(transmit, Math.min(CAP, PAUSE * 2 ** entry.tries++) * (1 + Math.random()), entry);
}
