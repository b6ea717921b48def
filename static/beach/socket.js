// One WebSocket that comes back by itself. It knows frames and deadlines, nothing of the page.
//
// A message that wants an answer gets a random id when it is made and keeps it until it is settled, however often it
// has to be sent (D36): the server answers a repeat instead of running it again.

const FINAL = new Set([4401, 4403, 4404]);
const RELOAD = 4410;                      // so far behind that a new page is quicker than catching up
const BASE = 400, CAP = 15000;            // ms: back-off with full jitter
const BEAT = 20000, DEADLINE = 8000;      // ms: ping after silence, then how long an answer may take
const PATIENCE = 10000;                   // ms: how long a sent message may stay unanswered before the person is told

export const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');

export class Socket {
  // `on`: frame, delta, ack, error, slow, state. `seq`: {get(), set(n)}, the last row that the page shows.
  constructor({ url, seq, on, store, WebSocket = globalThis.WebSocket }) {
    Object.assign(this, { url, seq, on, store, WebSocket });
    this.pending = new Map();             // id -> {message, key, tries, timer}
    this.tries = 0;
    this.state = '';
    this.last = Promise.resolve();        // frames are applied one after the other
    for (const message of this.#stored()) this.pending.set(message.id, { message, keep: true, sent: false });
    addEventListener('online', () => this.wake());
    addEventListener('offline', () => this.#ping());      // a browser may be wrong about that: the answer tells
    addEventListener('focus', () => this.wake());
    document.addEventListener('visibilitychange', () => document.hidden || this.wake());
    addEventListener('pagehide', () => this.stop());
    addEventListener('pageshow', e => e.persisted && this.start());
  }

  start() {
    this.running = true;
    this.wake();
  }

  stop() {
    this.running = false;
    this.#drop();
  }

  // Now instead of later: the network is back, or somebody looks.
  wake() {
    if (!this.running || this.closed) return;
    if (this.ws) return this.ready ? this.#ping() : undefined;
    clearTimeout(this.retry);
    this.#open();
  }

  // Returns the id. `key`: a later message with the same key replaces this one if it was never on the wire.
  send(message, { key, keep = false } = {}) {
    message.id ??= randomId();
    if (key) {
      for (const [id, entry] of this.pending) if (entry.key === key && !entry.sent) this.pending.delete(id);
    }
    const entry = { message, key, keep, sent: false };
    this.pending.set(message.id, entry);
    this.#store();
    if (this.ready) this.#transmit(entry);
    return message.id;
  }

  // The person asks for it again: same id.
  again(id) {
    const entry = this.pending.get(id);
    if (!entry) return;
    if (this.ready) this.#transmit(entry); else this.wake();
  }

  // Something is missing: ask for everything after what the page has.
  hello() {
    if (this.greeting) return;
    this.greeting = true;
    this.#raw({ type: 'hello', after: this.seq.get() });
  }

  #open() {
    this.#say();
    const ws = this.ws = new this.WebSocket(this.url);
    this.alarm = setTimeout(() => this.#lost(ws), DEADLINE);
    ws.onopen = () => {
      this.greeting = false;
      this.hello();
      this.ready = true;
      for (const entry of this.pending.values()) this.#transmit(entry);
    };
    ws.onmessage = e => ws === this.ws && this.#heard(e.data);
    ws.onclose = e => this.#lost(ws, e.code);
    ws.onerror = () => {};
  }

  #heard(data) {
    clearTimeout(this.alarm);
    clearTimeout(this.beat);
    this.beat = setTimeout(() => this.#ping(), BEAT);
    let frame;
    try { frame = JSON.parse(data); } catch { return; }
    if (frame.ops) this.last = this.last.then(() => this.#row(frame)).catch(error => console.error(error));
    else if (frame.type === 'delta') this.last = this.last.then(() => this.on.delta(frame));
    else if (frame.type === 'welcome') {
      this.greeting = false;
      this.tries = 0;
      this.welcomed = true;
      this.#say();
      this.last = this.last.then(() => this.on.welcome?.(frame));
    } else if (frame.type === 'ack' || frame.type === 'error') this.#settle(frame);
  }

  async #row(frame) {
    const has = this.seq.get();
    if (frame.seq <= has) return;
    if (frame.prev > has) return this.hello();
    this.greeting = false;
    await this.on.frame(frame);
    this.seq.set(frame.seq);
    this.on.after?.(frame);
  }

  #settle(frame) {
    const entry = this.pending.get(frame.id);
    if (frame.code === 'too_far_back') return;            // the close that follows says what to do
    // A hello that is refused: without one no row comes, so it starts again, later and later.
    if (frame.type === 'error' && !entry && this.greeting) return this.#lost(this.ws);
    // Too many at once: the server did not even read who it was for, so whatever is unanswered goes again.
    if (frame.code === 'too_fast') return setTimeout(() => this.ready && this.pending.forEach(e => this.#transmit(e)), 1500);
    if (!entry) return frame.type === 'error' && this.on.error(frame);
    clearTimeout(entry.timer);
    this.pending.delete(frame.id);
    this.#store();
    // After the frames that came before it: an answer may speak of a row.
    this.last = this.last.then(() => this.on[frame.type](frame, entry.message));
  }

  #transmit(entry) {
    entry.sent = true;
    this.#raw(entry.message);
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => {
      if (!this.pending.has(entry.message.id)) return;
      this.on.slow(entry.message);
      this.#ping();
    }, PATIENCE);
  }

  #ping() {
    if (!this.ready) return;
    clearTimeout(this.alarm);
    this.#raw({ type: 'ping' });
    const ws = this.ws;
    this.alarm = setTimeout(() => this.#lost(ws), DEADLINE);
  }

  #raw(message) {
    try { this.ws.send(JSON.stringify(message)); } catch { this.#lost(this.ws); }
  }

  #drop() {
    const ws = this.ws;
    this.ws = null;
    this.ready = this.welcomed = false;
    clearTimeout(this.alarm);
    clearTimeout(this.beat);
    clearTimeout(this.retry);
    for (const entry of this.pending.values()) clearTimeout(entry.timer);
    if (ws) {
      ws.onopen = ws.onmessage = ws.onclose = null;
      try { ws.close(); } catch { /* it was closed already */ }
    }
  }

  #lost(ws, code) {
    if (ws !== this.ws || !ws) return;
    this.#drop();
    if (FINAL.has(code)) {
      this.closed = code;
      return this.#say();
    }
    if (!this.running) return;
    if (code === RELOAD) return this.on.reload();
    const delay = 100 + Math.random() * Math.min(CAP, BASE * 2 ** this.tries++);
    this.retry = setTimeout(() => this.#open(), delay);
    this.#say();
  }

  #say() {
    const state = this.closed ? 'closed' : this.welcomed ? 'connected' : navigator.onLine === false ? 'offline' : 'reconnecting';
    this.state = state;
    this.on.state(state, this.tries, this.closed);
  }

  // Messages and edits survive a reload; clicks do not: nobody expects one to happen an hour later.
  #store() {
    const kept = [...this.pending.values()].filter(entry => entry.keep).map(entry => entry.message);
    try { sessionStorage.setItem(this.store, JSON.stringify(kept)); } catch { /* full or forbidden: they stay in memory */ }
  }

  #stored() {
    try { return JSON.parse(sessionStorage.getItem(this.store)) ?? []; } catch { return []; }
  }
}
