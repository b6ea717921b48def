// The page of a conversation: wires socket, thread, fields, surfaces and composer together.

import { Socket } from './socket.js';
import { apply } from './apply.js';
import * as fields from './fields.js';
import * as surface from './surface.js';
import * as thread from './thread.js';
import * as composer from './composer.js';

const root = document.getElementById('panel');
const main = document.getElementById('thread');
const strings = JSON.parse(document.getElementById('strings').textContent);
const status = document.getElementById('status');
const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';

// -- short news ------------------------------------------------------------------------------------------------------

function toast(text, kind = '', extra) {
  if (!text) return;
  const made = document.getElementById('toast').content.firstElementChild.cloneNode(true);
  if (kind) made.classList.add(`b-toast--${kind}`);
  made.querySelector('.b-toast__text').append(text, ...(extra ? [' ', extra] : []));
  made.querySelector('button').addEventListener('click', () => made.remove());
  document.getElementById('toasts').append(made);
  thread.announce(text);
  if (!extra) setTimeout(() => made.remove(), 8000);
}

// -- connection ------------------------------------------------------------------------------------------------------

let socket, seen = 'connected';

function state(now, tries, code) {
  status.dataset.state = now === 'closed' ? 'offline' : now;
  const words = { connected: strings.connected, reconnecting: tries ? strings.reconnecting : strings.connecting, offline: strings.offline, closed: strings.closed };
  const more = now === 'reconnecting' && tries > 1 ? strings.attempt.replace('{}', tries) : '';
  const [text, rest] = status.querySelectorAll('span');
  text.firstChild.data = words[now];
  rest.textContent = more;
  composer.online(now === 'connected');
  if (now === 'connected' && seen !== 'connected') thread.announce(strings.connected);
  if (now === 'closed') toast(code === 4401 ? strings.signIn : strings.closed, 'bad');
  if (now !== 'reconnecting') seen = now;
  else if (tries > 1 && seen === 'connected') { seen = now; thread.announce(strings.reconnecting); }
}

function busy(now) {
  const before = root.dataset.busy === 'true';
  root.dataset.busy = now;
  composer.refresh();
  const note = document.getElementById('side-note');
  if (note) {
    const waiting = document.querySelector('.b-approval[data-state=pending]');
    note.hidden = !waiting && !now;
    note.classList.toggle('b-session__note--ask', Boolean(waiting));
    note.firstElementChild.classList.toggle('b-dot--live', !waiting);
    note.lastElementChild.textContent = waiting ? strings.waiting : strings.working;
  }
  if (now === before) return;
  if (now) thread.announce(strings.busy);
  else if (!document.querySelector('.b-approval[data-state=pending]')) thread.announce(strings.ready);
}

const answers = {
  message: composer, edit: fields, action: surface, show: surface,
  decide: { acked() {}, refused: thread.refused },
  stop: { acked() {}, refused: ({ message }) => toast(message, 'bad') },
};

// The list of conversations is the server's; it is asked for when it may have changed.
const relist = () => document.dispatchEvent(new Event('sessions'));

async function redraw(frame) {
  fields.applying(frame.seq);
  thread.ends(frame.ops);
  const roots = await apply(frame.ops);
  surface.restore(roots);
  root.dataset.seq = frame.seq;
  composer.settle();
  busy(frame.busy);
  thread.settle(roots);
  const title = document.getElementById('title').textContent;
  if (root.dataset.session && !document.title.startsWith(title)) document.title = `${title} · Beach`;
  // A conversation that began on this page is not in the list yet.
  if (begun) { begun = false; relist(); }
}

function connect() {
  const session = root.dataset.session;
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  socket = new Socket({
    url: `${scheme}//${location.host}/ws/chat/${session}/`,
    store: `beach:${session}`,
    seq: { get: () => Number(root.dataset.seq), set: n => { root.dataset.seq = n; } },
    on: {
      frame: redraw,
      delta: frame => { if (!thread.delta(frame)) socket.hello(); },
      welcome: frame => busy(frame.busy),
      ack: (frame, message) => answers[message.type]?.acked(frame, message),
      error: (frame, message) => message ? answers[message.type]?.refused(frame, message) : toast(frame.message, 'bad'),
      reload: () => location.reload(),
      slow: message => message.type === 'message' ? composer.slow(message.id) : toast(strings.slow),
      state,
    },
  });
  return socket;
}

// A new page has no session until the first message: nothing is stored for somebody who only looks.
let beginning, begun = false;
function begin() {
  const form = document.getElementById('new');
  form.elements.timezone.value = timezone;
  return beginning ??= fetch(form.action, { method: 'POST', body: new FormData(form), headers: { Accept: 'application/json' } })
    .then(answer => answer.ok ? answer.json() : Promise.reject(new Error(answer.status)))
    .then(({ id, url }) => {
      begun = true;
      root.dataset.session = id;
      history.replaceState(null, '', url);
      connect().start();
    })
    .catch(() => { beginning = null; throw new Error(strings.notBegun); });
}

function send(message, how) {
  if (socket) return socket.send(message, how);
  begin().then(() => socket.send(message, how)).catch(error => composer.refused({ id: message.id, message: error.message }));
  return message.id;
}

// -- shell -----------------------------------------------------------------------------------------------------------

const drawer = document.getElementById('drawer'), side = document.getElementById('side');

function shell() {
  document.getElementById('menu').addEventListener('click', () => { drawer.append(side); drawer.showModal(); });
  drawer.addEventListener('close', () => root.prepend(side));
  drawer.addEventListener('click', e => (e.target === drawer || e.target.closest('[data-close]')) && drawer.close());
  document.addEventListener('visibilitychange', () => document.hidden || relist());
  matchMedia('(min-width: 60rem)').addEventListener('change', e => e.matches && drawer.open && drawer.close());
  document.addEventListener('theme', e => {
    const theme = e.detail?.value ?? e.detail;
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    for (const b of document.querySelectorAll('button[name=theme]')) b.setAttribute('aria-pressed', b.value === theme);
  });
  // The keyboard of a phone covers the page without resizing it; the dock has to know by how much.
  const view = visualViewport;
  const inset = () => root.style.setProperty('--b-keyboard', `${Math.max(0, Math.round(innerHeight - view.height - view.offsetTop))}px`);
  for (const name of ['resize', 'scroll']) view?.addEventListener(name, inset);
}

shell();
thread.start(main, {
  strings, timezone: root.dataset.timezone || timezone, pill: document.getElementById('pill'),
  top: document.querySelector('.b-top'), dock: document.querySelector('.b-dock'),
  announcer: document.getElementById('announcer'), send: message => send(message),
});
fields.start(main, { send, strings });
surface.start(main, { send: message => send(message), sent: () => thread.follow(true), toast, strings });
if (root.dataset.session) connect();
const kept = socket ? [...socket.pending.values()].map(entry => entry.message) : [];
composer.start({
  root, strings, toast, form: document.getElementById('composer'), limit: Number(root.dataset.limit),
  store: `beach:draft:${root.dataset.session}`, send: message => send(message, { keep: true }),
  again: id => socket?.again(id), sent: () => thread.follow(true),
}, kept);
fields.recall(kept);
socket?.start();
thread.toEnd();
