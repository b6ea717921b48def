// Writing: the message box, what was sent but is not in the log yet, and what is said of the connection.

import { all, byId, copy, focus, focused, length, one, say, when } from './dom.js';
import { again, both, draft, keepDraft, newDraft, waiting, withdraw } from './outbox.js';
import { facts, seen, use, words } from './page.js';
import { send } from './port.js';
import { dial, wake } from './socket.js';
import { follow } from './thread.js';

const form = byId('composer'), box = byId('msg'), hint = byId('hint').lastElementChild;
const sending = byId('send');
const most = +facts.limit;
// A keyboard on the screen would cover what there is to read.
const keyboard = matchMedia('(pointer: fine)').matches;
const bubbles = new Map();     // message id -> bubble, until its row is on the page
let link = [];                 // what is known of the connection: state, tries, why
let dragged;                   // over the page, which was told of already
let files;                     // what handles files (files.js), once somebody has chosen some

export function drawComposer() {
  const busy = facts.busy === 'true', count = length(box.value), over = count > most;
  // Who answers is said as a row is, and the box says it too.
  box.placeholder = byId('to').textContent;
  sending.disabled = !box.value.trim() && !files?.batch() || over;
  // A hidden button lets go of focus: what comes next is written.
  if (!busy && keyboard && focused().matches('[data-stop]')) focus(box);
  say(hint, over ? words('tooLong', count.toLocaleString(), most.toLocaleString()) : '');
  keepDraft(box.value);
}

// Returns the id of the message, undefined where there can be none.
function submit(text, button, batch) {
  const trimmed = text.trim();
  if ((trimmed || batch) && length(trimmed) <= most) return send({ type: 'message', text: trimmed }, { keep: true, button, batch });
}

// Into the box, before what is written there already.
function take(text) {
  box.value = both(text, box.value);
  drawComposer();
  focus(box);
}

function echo({ message: { id, text }, batch }) {
  const made = copy('me');
  one('.b-me__text', made).textContent = text;
  when('click', 'button', ({ dataset }) => {
    if ('again' in dataset) {
      again(id);
      return dial();
    }
    // The box of a page without a conversation holds the text then.
    if ('edit' in dataset) {
      batch?.back?.();
      take(text);
    } else if ('anew' in dataset) newDraft(text);
    else return;
    withdraw(id);
    if ('anew' in dataset) location.assign(facts.new);
  }, made);
  byId('tail').append(made);
  batch?.draw?.(made);
  follow(true);
  bubbles.set(id, made);
  return made;
}

export const messages = {
  moved(entry, ack) {
    const { message: { id }, state, why } = entry, made = bubbles.get(id) ?? (state !== 'gone' && echo(entry));
    if (!made) return;
    if (state === 'gone') {
      if (ack) made.dataset.seq = ack.seq ?? 0;
      else remove(id);
      settle();
    } else {
      // What can help is a matter of style: see panel.css.
      made.dataset.state = state;
      made.dataset.code = why?.code;
      one('[data-why]', made).textContent = why?.message;
    }
    drawLink();
    return true;
  },
};

const remove = id => { bubbles.get(id)?.remove(); bubbles.delete(id); };

// The row of a message has come: its own copy goes.
export function settle() {
  for (const [id, made] of bubbles) {
    const row = one(`[data-mid="${id}"]`);
    if (row) withdraw(id);
    if (row || made.dataset.seq <= seen()) remove(id);
  }
  drawComposer();
}

// Says what is known of the connection, and only that: it shows the note, and in it the sentences for what is known.
function drawLink() {
  const [state, tries] = link;
  facts.link = link.concat(waiting() ? 'waiting' : '').join(' ');
  one('[data-attempt]').textContent = state === 'reconnecting' && tries > 1 ? words('attempt', tries) : '';
}

export function online(...known) {
  link = known;
  drawLink();
}

box.value ||= draft();
when('submit', '#composer', (_, e) => {
  e.preventDefault();
  if (submit(box.value, null, files?.batch())) { box.value = ''; drawComposer(); }
  box.focus();
});
when('keydown', '#msg', (_, e) => {
  // By its code: an Enter that ends a composition has another one, also where a browser reports it as a plain one.
  if (e.keyCode !== 13 || e.shiftKey || e.altKey || e.ctrlKey || e.isComposing) return;
  e.preventDefault();
  form.requestSubmit();
});
when('input', '#msg', drawComposer);
when('click', '[data-stop]', button => send({ type: 'stop' }, { button }));
when('click', '[data-say]', chip => {
  if (submit(chip.dataset.say, chip) === undefined) take(chip.dataset.say);
  focus(box);
});
// By the button, from the clipboard, or dropped. Documents bring a picture of the text that is copied from them.
for (const type of ['change', 'paste', 'dragover', 'drop']) addEventListener(type, async e => {
  const { files: found, types = 'Files' } = e.clipboardData ?? e.dataTransfer ?? e.target;
  if (!found || !/^(?!.*plain.*html).*Files/.test(types) ) return;
  e.preventDefault();
  const over = type === 'dragover';
  if (!facts.keep || over && dragged) return;
  dragged = over;
  const chosen = [...found];
  files = await use('files');
  if (!over) files?.add(chosen, drawComposer);
});
when('click', '[data-wake]', wake);
// The conversation may have begun since the page came.
when('click', '[data-sign]', at => { if (facts.session) at.search = `next=${location.pathname}`; });
// Nothing to read yet: writing can begin at once.
if (byId('empty') && keyboard) focus(box);
drawComposer();
