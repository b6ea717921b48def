// One WebSocket that comes back by itself. It knows frames, deadlines and why there is no connection, nothing of the page.

import { all, store, stored } from './dom.js';
import { answer, broken, opened, shut, waiting } from './outbox.js';
import { facts, seen } from './page.js';

// Closed for good: what coming back cannot mend.
const ENDS = { 4401: 'signedOut', 4403: 'denied', 4404: 'denied' };
const FINAL = /address|signedOut|unmade/;
const RELOAD = 4410;                      // a new page is quicker than catching up, or the only way
const AGAIN = 4411;                       // who sits here has changed: the cookies of now count
const CROWD = 4429;                       // too many pages are open: one that is closed makes room
const BASE = 400, CALM = 15000;           // ms: back-off with full jitter
const BEAT = 20000, DEADLINE = 8000;      // ms: ping after silence, then how long an answer may take

// What the page does with it: begin, frame, delta, welcome, sessions, error, state.
let page;
let ws, running, ready, welcomed, greeting, closed = '', cause = '', tries = 0;
let timer;                                // there is one thing to wait for at a time: an answer, silence, the next try
let last = Promise.resolve();             // frames are applied one after the other

export function listen(handlers) {
  page = handlers;
  addEventListener('online', wake);
  addEventListener('offline', () => { ping(); tell(); });      // a browser may be wrong about that: the answer tells
  addEventListener('focus', wake);
  addEventListener('pagehide', () => { running = false; drop(); });
  addEventListener('pageshow', e => e.persisted && dial());
  tell();
}

export function dial() {
  running = true;
  if (closed === 'unmade') closed = '';
  if (!ws) wake();
}

// Something is missing: ask for everything after what the page has.
export function hello() {
  if (greeting) return;
  greeting = true;
  // By which the server tells the row from another one of its number, in a log that was restored. What has come without
  // one is no number, which JSON has as null.
  raw({ type: 'hello', after: seen(), mark: +facts.mark });
}

function wait(time, then) {
  clearTimeout(timer);
  timer = setTimeout(then, time);
}

// Nothing is stored for somebody who only looks: a new page has no conversation before there is something to send.
const wanted = () => running && (facts.session || waiting());

// Now instead of later: the network is back, or somebody looks.
export async function wake() {
  if (closed === 'signedOut' && await ask() !== closed) closed = '';
  if (closed) finish(closed);
  else if (!wanted()) tell();
  else if (ws) ping();
  else reach();
}

async function reach() {
  tell();
  wait(DEADLINE, lost);
  if (!facts.session) {
    const failed = await page.begin(AbortSignal.timeout(DEADLINE)).catch(error => ({ cause: why(error) }));
    if (ws || !running) return;
    if (failed) return lost(0, failed);
  }
  ws = new WebSocket(`${location.origin.replace('http', 'ws')}${facts.socket}${facts.session}/?person=${facts.person}`);
  ws.onopen = () => {
    ready = true;
    greeting = false;
    hello();
    opened(raw);
  };
  ws.onmessage = e => heard(JSON.parse(e.data));
  ws.onclose = e => lost(e.code);
}

// What a request that has failed says about the server.
const why = ({ name }) => name === 'TimeoutError' ? 'slow' : 'away';

// What is in the way, as far as the server can say: '' for nothing. Forms get a token that counts now.
export async function ask() {
  try {
    const reply = await fetch(facts.reach, { method: 'POST', signal: AbortSignal.timeout(DEADLINE) });
    if (!reply.ok) return 'away';
    const { origin, known, person, csrf } = await reply.json(), mine = facts.person;
    for (const input of all('[name=csrfmiddlewaretoken]')) input.value = csrf;
    return !origin ? 'address' : (mine ? person !== mine : !known && facts.session) ? 'signedOut' : '';
  } catch (error) {
    return why(error);
  }
}

// One that fails must not hold up those after it.
function next(step) {
  last = last.then(step).catch(console.error);
}

function heard(frame) {
  const { type, id, code } = frame;
  wait(BEAT, ping);
  if (frame.ops) next(() => arrive(frame));
  else if (type === 'delta') next(() => page.delta(frame) || hello());
  else if (type === 'welcome') {
    greeting = false;
    tries = 0;
    welcomed = true;
    cause = '';
    tell();
    next(() => page.welcome(frame));
  } else if (type === 'sessions') page.sessions();
  // The close that follows says what to do.
  else if (code === 'too_far_back') return;
  // A hello that is refused: without one no row comes, so it starts again, later and later.
  else if (code && !id && greeting) lost();
  // After the frames that came before it: an answer may speak of a row.
  else next(() => answer(frame) || code && page.error(frame));
}

function arrive(frame) {
  // Earlier messages answer somebody, and stand as they were at a row that the page has.
  if (frame.seq <= seen() && !frame.id) return;
  if (frame.prev > seen()) return hello();
  greeting = false;
  answer(frame);
  return page.frame(frame);
}

export function ping() {
  if (ready) wait(DEADLINE, lost);
  raw({ type: 'ping' });
}

function raw(message) {
  if (ready) ws.send(JSON.stringify(message));
}

function drop() {
  clearTimeout(timer);
  ready = welcomed = false;
  // To close returns nothing: it is heard of no more.
  if (ws) ws = ws.onclose = ws.close();
  broken();
}

// `failed`: why there is no conversation to connect to, as {cause, after}.
async function lost(code, failed) {
  const was = welcomed, refused = !ready && !failed;
  drop();
  let final = ENDS[code] ?? FINAL.exec(failed?.cause)?.[0];
  if (code === RELOAD) {
    // Once: a page that is sent away again and again shows nothing.
    if (Date.now() - stored('beach:again') < 60000) final = 'stale';
    else {
      store('beach:again', Date.now());
      return location.reload();
    }
  }
  if (final) return finish(final);
  if (code === AGAIN && was) {
    ask();
    page.sessions();
    return reach();
  }
  wait(Math.max(failed?.after ?? 0, 100 + Math.random() * Math.min(CALM, BASE * 2 ** tries++)), wake);
  cause = code === CROWD ? 'many' : failed?.cause ?? cause;
  tell();
  // A browser does not say why a handshake failed.
  if (!refused) return;
  const found = await ask();
  if (ready || closed || !running) return;
  if (FINAL.test(found)) return finish(found);
  cause = found;
  tell();
}

function finish(reason) {
  drop();
  // Whoever never signed in cannot have been signed out.
  closed = reason === 'signedOut' && !facts.person ? 'denied' : reason;
  tell();
  shut(closed);
}

function tell() {
  page.state(closed ? 'closed' : welcomed ? 'connected' : !navigator.onLine ? 'offline' : wanted() ? 'reconnecting' : 'idle', tries, closed || cause);
}
