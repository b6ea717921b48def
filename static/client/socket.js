// One WebSocket that comes back by itself. It knows frames and deadlines, nothing of the page.
//
// A message that wants an answer gets a random id when it is made and keeps it until it is settled, however often it
// has to be sent (D36): the server answers a repeat instead of running it again.

import { store, stored } from './dom.js';

const FINAL = [4401, 4403];
const RELOAD = 4410;                      // so far behind that a new page is quicker than catching up
const BASE = 400, CAP = 15000;            // ms: back-off with full jitter
const BEAT = 20000, DEADLINE = 8000;      // ms: ping after silence, then how long an answer may take
const PATIENCE = 10000;                   // ms: how long a sent message may stay unanswered before the person is told
const PAUSE = 1500;                       // ms: before all is sent again that came too fast

// What the page does with it: frame, delta, welcome, sessions, ack, error, slow, state; `seen` is the last row it shows.
let page;
let url, memory;
let ws = null, running = false, ready = false, welcomed = false, greeting = false, closed = 0, tries = 0;
let timer;                                // there is one thing to wait for at a time: an answer, silence, the next try
let last = Promise.resolve();             // frames are applied one after the other
const unanswered = new Map();              // id -> {message, key, keep, sent, timer}

export const randomId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

// Returns the messages from before a reload. They are sent again.
export function connect(address, name, handlers) {
  url = address;
  memory = name;
  page = handlers;
  const kept = stored(memory) ?? [];
  for (const message of kept) unanswered.set(message.id, { message, keep: true });
  addEventListener('online', wake);
  addEventListener('offline', ping);      // a browser may be wrong about that: the answer tells
  addEventListener('focus', wake);
  addEventListener('pagehide', () => { running = false; drop(); });
  addEventListener('pageshow', e => e.persisted && dial());
  return kept;
}

export function dial() {
  running = true;
  wake();
}

// Returns the id. `key`: a later message with the same key replaces this one if it was never on the wire. `keep`: it
// survives a reload.
export function post(message, { key, keep } = {}) {
  message.id ??= randomId();
  if (key) for (const [id, entry] of unanswered) if (entry.key === key && !entry.sent) unanswered.delete(id);
  const entry = { message, key, keep };
  unanswered.set(message.id, entry);
  save();
  transmit(entry);
  return message.id;
}

// The person asks for it again: same id.
export function resend(id) {
  wake();
  if (unanswered.has(id)) transmit(unanswered.get(id));
}

// Something is missing: ask for everything after what the page has.
export function hello() {
  if (greeting) return;
  greeting = true;
  raw({ type: 'hello', after: page.seen() });
}

function wait(time, then) {
  clearTimeout(timer);
  timer = setTimeout(then, time);
}

// Now instead of later: the network is back, or somebody looks.
export function wake() {
  if (!running || closed) return;
  if (ws) ping();
  else reach();
}

function reach() {
  tell();
  wait(DEADLINE, lost);
  ws = new WebSocket(url);
  ws.onopen = () => {
    ready = true;
    greeting = false;
    hello();
    unanswered.forEach(transmit);
  };
  ws.onmessage = e => heard(JSON.parse(e.data));
  ws.onclose = e => lost(e.code);
}

// One that fails must not hold up those after it.
function next(step) {
  last = last.then(step).catch(console.error);
}

function heard(frame) {
  wait(BEAT, ping);
  if (frame.ops) next(() => arrive(frame));
  else if (frame.type === 'delta') next(() => page.delta(frame) || hello());
  else if (frame.type === 'sessions') page.sessions();
  else if (frame.type === 'welcome') {
    greeting = false;
    tries = 0;
    welcomed = true;
    tell();
    next(() => page.welcome(frame));
  } else answer(frame);
}

function arrive(frame) {
  if (frame.seq <= page.seen()) return;
  if (frame.prev > page.seen()) return hello();
  greeting = false;
  return page.frame(frame);
}

function answer(frame) {
  const entry = unanswered.get(frame.id), failed = frame.type === 'error';
  if (frame.code === 'too_far_back') return;              // the close that follows says what to do
  // A hello that is refused: without one no row comes, so it starts again, later and later.
  if (failed && !entry && greeting) return lost();
  // Too many at once: the server did not even read who it was for, so whatever is unanswered goes again.
  if (frame.code === 'too_fast') return setTimeout(() => unanswered.forEach(transmit), PAUSE);
  if (!entry) return failed && page.error(frame);
  clearTimeout(entry.timer);
  unanswered.delete(frame.id);
  save();
  // After the frames that came before it: an answer may speak of a row.
  next(() => page[frame.type](frame, entry.message));
}

function transmit(entry) {
  if (!ready) return;
  entry.sent = true;
  raw(entry.message);
  clearTimeout(entry.timer);
  entry.timer = setTimeout(() => { page.slow(entry.message); ping(); }, PATIENCE);
}

function ping() {
  if (!ready) return;
  raw({ type: 'ping' });
  wait(DEADLINE, lost);
}

function raw(message) {
  if (ready) ws.send(JSON.stringify(message));
}

function drop() {
  clearTimeout(timer);
  for (const entry of unanswered.values()) clearTimeout(entry.timer);
  ready = welcomed = false;
  if (!ws) return;
  ws.onopen = ws.onmessage = ws.onclose = null;
  ws.close();
  ws = null;
}

function lost(code) {
  drop();
  if (code === RELOAD) return location.reload();
  if (FINAL.includes(code)) closed = code;
  else wait(100 + Math.random() * Math.min(CAP, BASE * 2 ** tries++), reach);
  tell();
}

function tell() {
  page.state(closed ? 'closed' : welcomed ? 'connected' : navigator.onLine ? 'reconnecting' : 'offline', tries, closed);
}

// Messages and edits survive a reload; clicks do not: nobody expects one to happen an hour later.
function save() {
  store(memory, [...unanswered.values()].filter(entry => entry.keep).map(entry => entry.message));
}
