// Writing: the message box, and what was sent but is not in the log yet.

import { all, byId, copy, focus, make, store, stored, when } from './dom.js';
import { root, seen, words } from './page.js';
import { send } from './port.js';
import { randomId, resend } from './socket.js';
import { follow } from './thread.js';

const form = byId('composer'), box = byId('msg'), hint = byId('hint');
const sending = form.querySelector('[type=submit]'), stop = form.querySelector('[data-stop]'), note = form.querySelector('.b-composer__note');
const draft = `beach:draft:${root.dataset.session}`, most = Number(root.dataset.limit);
// A keyboard on the screen would cover what there is to read.
const keyboard = matchMedia('(pointer: fine)').matches;
const bubbles = new Map();     // message id -> bubble, until its row is on the page
let connected = false;

const length = () => [...box.value].length;

export function drawComposer() {
  const busy = root.dataset.busy === 'true', over = length() > most, empty = !box.value.trim();
  sending.disabled = empty || over || box.disabled;
  sending.hidden = busy && empty;
  // A hidden button lets go of focus: what comes next is written.
  if (!busy && document.activeElement === stop && keyboard) focus(box);
  stop.hidden = !busy;
  hint.replaceChildren(make('span', {
    className: over ? 'is-kept' : '',
    textContent: over ? words('tooLong', length().toLocaleString(), most.toLocaleString()) : words(busy ? 'answering' : 'hint'),
  }));
  store(draft, box.value);
}

function submit(text) {
  const id = randomId(), trimmed = text.trim();
  if (!trimmed || [...trimmed].length > most || box.disabled) return false;
  echo(id, trimmed);
  send({ type: 'message', id, text: trimmed }, { keep: true });
  return true;
}

function echo(id, text) {
  const made = copy('me');
  made.querySelector('.b-me__text').textContent = text;
  made.querySelector('button').onclick = () => { mark(made, 'sending'); resend(id); };
  bubbles.set(id, made);
  byId('tail').append(made);
  mark(made, connected ? 'sending' : 'queued');
  follow(true);
  count();
}

function mark(made, state) {
  made.dataset.state = state;
  for (const line of all('[data-for]', made)) line.hidden = line.dataset.for !== state;
}

export const messages = {
  acked({ id, seq }) {
    const made = bubbles.get(id);
    if (made) made.dataset.seq = seq ?? 0;
    settle();
  },
  refused({ id, message }) {
    const made = bubbles.get(id);
    if (!made) return false;
    mark(made, 'refused');
    made.querySelector('[data-for=refused] span').textContent = message;
    return true;
  },
};

export const slow = id => bubbles.has(id) && mark(bubbles.get(id), 'failed');

// The row of a message has come: its own copy goes.
export function settle() {
  for (const [id, made] of bubbles) {
    if (made.dataset.seq <= seen() || document.querySelector(`[data-mid="${id}"]`)) {
      made.remove();
      bubbles.delete(id);
    }
  }
  drawComposer();
}

function count() {
  const waiting = [...bubbles.values()].filter(made => made.dataset.state === 'queued').length;
  note.hidden = !waiting || connected;
  note.querySelector('span span').textContent = words('queued', waiting);
}

export function online(yes) {
  const [from, to] = yes ? ['queued', 'sending'] : ['sending', 'queued'];
  connected = yes;
  for (const made of bubbles.values()) if (made.dataset.state === from) mark(made, to);
  count();
}

export function startComposer(kept) {
  box.value ||= stored(draft) ?? '';
  when('submit', '#composer', (_, e) => {
    e.preventDefault();
    if (submit(box.value)) { box.value = ''; drawComposer(); }
    box.focus();
  });
  when('keydown', '#msg', (_, e) => {
    // 229: a browser that reports the Enter which ends a composition as a plain one.
    if (e.key !== 'Enter' || e.shiftKey || e.altKey || e.ctrlKey || e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    form.requestSubmit();
  });
  when('input', '#msg', drawComposer);
  when('click', '[data-stop]', () => send({ type: 'stop' }));
  when('click', '[data-say]', button => submit(button.dataset.say) && focus(box));
  // Nothing to read yet: writing can begin at once.
  if (byId('empty') && keyboard) focus(box);
  for (const { type, id, text } of kept) if (type === 'message') echo(id, text);
  drawComposer();
}
