// Writing: the message box, and what was sent but is not in the log yet.

import { randomId } from './socket.js';

let options, form, box, note, connected = false;
const bubbles = new Map();     // message id -> bubble, until its row is on the page

const length = () => [...box.value].length;

function draw() {
  const { strings, limit, root } = options;
  const busy = root.dataset.busy === 'true', over = length() > limit, empty = !box.value.trim();
  const [send, stop, hint] = [form.querySelector('[type=submit]'), form.querySelector('[data-stop]'), form.querySelector('.b-composer__hint')];
  send.disabled = empty || over || box.disabled;
  send.hidden = busy && empty;
  // A hidden button lets go of focus: what comes next is written.
  if (!busy && document.activeElement === stop && matchMedia('(pointer: fine)').matches) box.focus({ preventScroll: true });
  stop.hidden = !busy;
  hint.textContent = '';
  const words = over ? strings.tooLong.replace('{}', length().toLocaleString()).replace('{}', limit.toLocaleString()) : busy ? strings.answering : strings.hint;
  if (over) hint.append(Object.assign(document.createElement('span'), { className: 'is-kept', textContent: words }));
  else hint.textContent = words;
  try { sessionStorage.setItem(options.store, box.value); } catch { /* a draft less */ }
}

export function say(text, id = randomId()) {
  const words = text.trim();
  if (!words || [...words].length > options.limit || box.disabled) return false;
  show(id, words);
  options.send({ type: 'message', id, text: words });
  return true;
}

function show(id, words) {
  const made = document.getElementById('me').content.firstElementChild.cloneNode(true);
  made.querySelector('.b-me__text').textContent = words;
  made.querySelector('button').addEventListener('click', () => { mark(made, 'sending'); options.again(id); });
  bubbles.set(id, made);
  document.getElementById('tail').append(made);
  mark(made, connected ? 'sending' : 'queued');
  options.sent();
  count();
}

function mark(made, state) {
  made.dataset.state = state;
  for (const line of made.querySelectorAll('[data-for]')) line.hidden = line.dataset.for !== state;
}

export function acked({ id, seq }) {
  const made = bubbles.get(id);
  if (made) made.dataset.seq = seq ?? 0;
  settle();
}

export const slow = id => bubbles.has(id) && mark(bubbles.get(id), 'failed');

export function refused({ id, message }) {
  const made = bubbles.get(id);
  if (!made) return options.toast(message, 'bad');
  mark(made, 'refused');
  made.querySelector('[data-for=refused] span').textContent = message;
}

// The row of a message has come: its own copy goes.
export function settle() {
  for (const [id, made] of bubbles) {
    const seq = made.dataset.seq;
    if (!document.querySelector(`[data-mid="${id}"]`) && !(seq !== undefined && Number(options.root.dataset.seq) >= Number(seq))) continue;
    made.remove();
    bubbles.delete(id);
  }
  draw();
}

function count() {
  const waiting = [...bubbles.values()].filter(made => made.dataset.state === 'queued').length;
  note.hidden = !waiting || connected;
  note.lastElementChild.lastElementChild.textContent = options.strings.queued.replace('{}', waiting);
}

export function online(yes) {
  connected = yes;
  for (const made of bubbles.values()) {
    if (yes && made.dataset.state === 'queued') mark(made, 'sending');
    else if (!yes && made.dataset.state === 'sending') mark(made, 'queued');
  }
  count();
}

export function start(given, kept) {
  options = given;
  form = options.form;
  box = form.querySelector('textarea');
  note = form.querySelector('.b-composer__note');
  if (!box.value) try { box.value = sessionStorage.getItem(options.store) ?? ''; } catch { /* no draft */ }
  form.addEventListener('submit', e => {
    e.preventDefault();
    if (say(box.value)) { box.value = ''; draw(); }
    box.focus();
  });
  box.addEventListener('keydown', e => {
    // 229: a browser that reports the Enter which ends a composition as a plain one.
    if (e.key !== 'Enter' || e.shiftKey || e.altKey || e.ctrlKey || e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    form.requestSubmit();
  });
  box.addEventListener('input', draw);
  form.querySelector('[data-stop]').addEventListener('click', () => options.send({ type: 'stop' }));
  document.addEventListener('click', e => {
    const button = e.target.closest('[data-say]');
    if (button && say(button.dataset.say)) box.focus({ preventScroll: true });
  });
  // Nothing to read yet: a keyboard can begin at once (on a phone it would cover the suggestions).
  if (document.getElementById('empty') && matchMedia('(pointer: fine)').matches) box.focus({ preventScroll: true });
  for (const { type, id, text } of kept) if (type === 'message') show(id, text);
  draw();
}

export const refresh = () => draw();
