// What is left until something expires, counted down in the page. It decides nothing: the server says when time is up.

import { all, byId, say } from './dom.js';

const HOUR = 3600, NEAR = 300;           // seconds
let terms, offset;

function tick() {
  const now = Date.now() + offset;
  for (const time of all('time[data-left]')) {
    const left = Math.ceil((Date.parse(time.dateTime) - now) / 1000);
    if (left >= HOUR) continue;
    const told = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    say(time, left > 0 ? terms.left.replace('{}', told) : terms.over);
    if (left < NEAR) time.dataset.state = 'soon';
  }
}

export function startLeft() {
  terms = JSON.parse(byId('desk-words').textContent);
  offset = terms.now - Date.now();
  setInterval(tick, 1000);
}

export const term = name => terms[name];
