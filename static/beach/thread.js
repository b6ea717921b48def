// The conversation as it grows: streamed text, following the end, what is said aloud, decisions.

import { flush } from './fields.js';

const byId = id => document.getElementById(id);
const NEAR = 96;                 // px from the end that still count as "at the end"
const MARGIN = 12;               // px between the bar on top and the beginning of an answer
let options, following = true, unseen = false, released = null, queue = [], speaking = false;

// -- streamed text ---------------------------------------------------------------------------------------------------

// Offsets count characters as the server does, not UTF-16 units.
const streams = new WeakMap();   // bubble -> {node, count}
const over = new Set();          // bubbles whose part has come: text that was overtaken by it is late, not new

function bubble(frame) {
  const into = byId(frame.into);
  const zone = into?.querySelector(':scope > .b-live') ?? into;
  if (!zone) return null;
  const quiet = frame.partType === 'ack' || frame.partType === 'thinking';
  const made = byId(quiet ? 'ripple' : 'bubble').content.firstElementChild.cloneNode(true);
  made.id = `v${frame.live}`;
  const node = document.createTextNode('');
  made.querySelector('[data-text]').prepend(node);
  streams.set(made, { node, count: 0 });
  zone.append(made);
  return made;
}

// Returns false when something is missing.
export function delta(frame) {
  if (over.has(`v${frame.live}`)) return true;
  const made = byId(`v${frame.live}`) ?? (frame.offset === 0 && bubble(frame));
  if (!made) return frame.offset === 0 || !byId(frame.into);
  const stream = streams.get(made);
  if (frame.offset > stream.count) return false;
  const fresh = [...frame.text];
  if (frame.offset === stream.count) stream.node.appendData(frame.text);
  else stream.node.data = [...stream.node.data].slice(0, frame.offset).join('') + frame.text;
  stream.count = frame.offset + fresh.length;
  follow(false, true);
  return true;
}

// Before a frame is applied: which bubbles it ends.
export function ends(ops) {
  for (const [name, id] of ops) {
    if (name === 'd' && id[0] === 'v') over.add(id);
    else if (name === 't') for (const made of byId(id)?.querySelectorAll(':scope > [id^=v]') ?? []) over.add(made.id);
  }
}

// -- following -------------------------------------------------------------------------------------------------------

const gap = () => document.documentElement.scrollHeight - innerHeight - scrollY;

// What must stay in view while something comes in below it: where the newest answer begins, with the words or the click
// that it answers, unless those alone would fill the page.
function anchor() {
  const last = byId('tail').lastElementChild ?? byId('tail').previousElementSibling;
  if (!last?.matches('.b-turn')) return last?.matches('.b-me, .b-event') ? last : null;
  const asked = last.previousElementSibling;
  return asked?.matches('.b-me, .b-event') && asked.offsetHeight < innerHeight / 3 ? asked : last;
}

// How far the page may scroll by itself: who reads should not lose the line they are at.
function limit(block) {
  if (!block || block === released) return Infinity;
  return block.getBoundingClientRect().top + scrollY - (options.top?.getBoundingClientRect().bottom ?? 0) - MARGIN;
}

// ``force``: the person did something that is answered at the end, so that is where they want to be.
export function follow(force = false, news = false) {
  if (byId('empty')) return pill();
  const end = document.documentElement.scrollHeight - innerHeight;
  const to = force ? end : following ? Math.min(end, limit(anchor())) : 0;
  if (to > scrollY) scrollTo({ top: to, behavior: 'instant' });
  if (force) following = true;
  else if (following) following = gap() < NEAR;
  if (news && !following) unseen = true;
  pill();
}

// To the end and on with it, however long the answer is.
export function toEnd() {
  released = anchor();
  follow(true);
}

function scrolled() {
  following = gap() < NEAR;
  // Whoever went past the limit wants to see the end grow.
  const block = anchor();
  if (following && scrollY > limit(block) + 1) released = block;
  pill();
}

// The first question whose answers are below what can be seen.
function asked() {
  const edge = innerHeight - options.dock.offsetHeight;
  return [...document.querySelectorAll('.b-approval[data-state=pending] .b-approval__act')].find(act => act.getBoundingClientRect().bottom > edge);
}

function pill() {
  const below = Boolean(asked());
  // Who reads back is told of what has come meanwhile, and of a question; not that there is an end.
  const near = following || gap() < NEAR;
  if (near) unseen = false;
  options.pill.hidden = near || !(unseen || below);
  if (options.pill.hidden) return;
  const button = options.pill.firstElementChild;
  button.classList.toggle('b-pill--ask', below);
  button.lastElementChild.textContent = below ? options.strings.approvalBelow : options.strings.newBelow;
}

// -- said aloud ------------------------------------------------------------------------------------------------------

// One polite region with a queue: two texts set in one go would be read as one, or not at all.
export function announce(text) {
  if (text) queue.push(text);
  if (speaking || !queue.length) return;
  speaking = true;
  options.announcer.textContent = '';
  setTimeout(() => {
    options.announcer.textContent = queue.shift();
    setTimeout(() => { speaking = false; announce(); }, 600);
  }, 60);
}

// -- decisions -------------------------------------------------------------------------------------------------------

const cardOf = approval => [...document.querySelectorAll('[data-decide]')].find(b => b.dataset.approval === approval)?.closest('.b-approval');
const heads = new WeakMap();

function decide(button) {
  const card = button.closest('.b-approval');
  if (card.dataset.state !== 'pending') return;
  flush();
  card.querySelector('.b-approval__refused')?.remove();
  card.dataset.state = 'deciding';
  // A disabled button lets go of focus; the card keeps it until there is an answer.
  card.tabIndex = -1;
  card.focus({ preventScroll: true });
  for (const b of card.querySelectorAll('[data-decide]')) b.disabled = true;
  const state = card.querySelector('.b-approval__state');
  heads.set(card, state.cloneNode(true));
  const spin = document.createElement('span');
  spin.className = 'b-spin';
  state.replaceChildren(spin, options.strings.deciding);
  heads.get(card).pressed = button;
  options.send({ type: 'decide', approval: button.dataset.approval, decision: button.dataset.decide });
}

export function refused({ message }, { approval }) {
  const card = cardOf(approval);
  if (!card || card.dataset.state !== 'deciding') return;
  card.dataset.state = 'pending';
  for (const b of card.querySelectorAll('[data-decide]')) b.disabled = false;
  card.querySelector('.b-approval__state').replaceWith(heads.get(card));
  if (document.activeElement === card) heads.get(card).pressed.focus({ preventScroll: true });
  const note = document.createElement('p');
  note.className = 'a2-error b-approval__refused';
  note.setAttribute('role', 'alert');
  note.textContent = message;
  card.querySelector('.b-approval__act').before(note);
}

// -- time ------------------------------------------------------------------------------------------------------------

const two = n => String(n).padStart(2, '0');

function tick() {
  for (const place of document.querySelectorAll('[data-expires]')) {
    const left = Math.ceil((Date.parse(place.dataset.expires) - Date.now()) / 1000);
    if (left > 3600) continue;
    place.textContent = left > 0 ? options.strings.expiresIn.replace('{}', `${Math.floor(left / 60)}:${two(left % 60)}`) : options.strings.timeUp;
    // The server decides; this only keeps a person from pressing what can no longer count.
    if (left <= 0) for (const b of place.closest('.b-approval').querySelectorAll('[data-decide]')) b.disabled = true;
  }
}

function days(roots) {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: options.timezone }).format(Date.now());
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: 'auto' });
  for (const time of roots.flatMap(root => [...root.querySelectorAll('[data-day]')])) {
    const ago = Math.round((Date.parse(time.dateTime) - Date.parse(today)) / 864e5);
    time.dataset.long ??= time.textContent;
    const near = ago === 0 || ago === -1 ? words.format(ago, 'day') : time.dataset.long;
    time.textContent = near[0].toLocaleUpperCase() + near.slice(1);
  }
}

// -- after every frame -----------------------------------------------------------------------------------------------

export function settle(roots) {
  days(roots);
  tick();
  if (roots.some(root => root.matches('.b-approval[data-state=pending]') || root.querySelector('.b-approval[data-state=pending]'))) {
    announce(options.strings.approvalNeeded);
  }
  // What changes inside of a card that is there already, such as an error under a field, is no news.
  follow(false, roots.some(root => !root.closest('.b-surface__body')));
}

export function start(root, given) {
  options = given;
  addEventListener('scroll', scrolled, { passive: true });
  // What grows later, such as pictures, is followed as well.
  new ResizeObserver(() => following && follow()).observe(root);
  options.pill.addEventListener('click', () => {
    const act = asked();
    if (!act) return toEnd();
    // All of the card where there is room; else its answers, with as much above them as fits.
    const card = act.closest('.b-approval');
    const room = innerHeight - options.dock.offsetHeight - (options.top?.offsetHeight ?? 0);
    (card.offsetHeight < room ? card : act).scrollIntoView({ block: 'center' });
  });
  root.addEventListener('click', e => {
    const button = e.target.closest('[data-decide]');
    if (button) decide(button);
  });
  setInterval(tick, 1000);
  days([root]);
  tick();
}
