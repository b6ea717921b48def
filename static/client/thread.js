// The conversation as it grows: following the end.

import { tick } from './clock.js';
import { all, byId, html, one, top, when, within } from './dom.js';
import { announce, main, root, strings } from './page.js';

const NEAR = 96;                 // px from the end that still count as "at the end"
const END = 1e9;                 // px: as far as there is
const MARGIN = 12;               // px between the bar on top and the beginning of an answer
const PENDING = '.b-approval[data-state=pending]';
const pill = byId('pill'), dock = one('.b-dock');
const space = () => innerHeight - dock.offsetHeight;
let following = true, unseen = false, could = false, passed, spare = space();

export const pending = () => one(PENDING);
const bottom = element => element.getBoundingClientRect().bottom;
const edge = () => bottom(one('.b-top'));                       // what covers the page from above,
const room = () => top(dock) + 1;                                                  // and where it is covered from below

// -- following -------------------------------------------------------------------------------------------------------

const gap = () => html.scrollHeight - innerHeight - scrollY;

// What must stay in view while something comes in below it: where the newest answer begins, with the words or the click
// that it answers, unless those alone would fill the page.
function anchor() {
  const tail = byId('tail'), last = tail.lastElementChild ?? tail.previousElementSibling;
  const asked = last.matches('.b-turn') ? last.previousElementSibling : last;
  if (!asked.matches('.b-me, .b-event')) return last === asked ? null : last;
  return asked.offsetHeight < innerHeight / 3 ? asked : last;
}

// How far the page may scroll by itself: who reads should not lose the line they are at.
const limit = block => !block || block === passed ? END : top(block) + scrollY - edge() - MARGIN;

// ``force``: the person did something that is answered at the end, so that is where they want to be.
export function follow(force, news) {
  if (!byId('empty')) {
    const to = force ? END : following ? limit(anchor()) : 0;
    if (to > scrollY) scrollTo(0, to);
    following = force || (following && gap() < NEAR);
    unseen ||= news && !following;
  }
  point();
}

// To the end and on with it, however long the answer is.
export function toEnd() {
  passed = anchor();
  follow(true);
  const card = pending();
  if (card && bottom(card) > edge() && top(card) < edge()) show(card);
}

// A question that waits, with its answers: all of the card where there is room; else its beginning, over which the
// answers stick to the lower edge of what can be seen.
function show(card) {
  const long = card.offsetHeight > room() - edge();
  card.scrollIntoView({ block: long ? 'start' : 'nearest' });
  following = !long && gap() < NEAR;
}

const buttons = () => all(`${PENDING} .b-approval__btns`).filter(place => place.offsetHeight);
// The first question whose answers are below what can be seen.
const asked = () => buttons().find(place => bottom(place) > room())?.closest('.b-approval');
const answerable = () => buttons().some(place => bottom(place) <= room() && top(place) >= edge());

function point() {
  // Who reads back is told of what has come meanwhile, and of a question; not that there is an end.
  const below = Boolean(asked()), [button] = pill.children;
  if (following || gap() < NEAR) unseen = false;
  could = answerable();
  pill.hidden = could || !(unseen || below);
  button.classList.toggle('b-pill--ask', below);
}

// The box for writing has grown, or a keyboard has come up: whoever is at the end stays there, and answers that were in
// sight stay in sight.
function squeeze() {
  const lost = spare - space();
  spare -= lost;
  root.style.setProperty('--b-dock-h', `${dock.offsetHeight}px`);
  if (lost > 0 && (following || could)) scrollBy(0, lost);
  point();
}

// -- after every frame -----------------------------------------------------------------------------------------------

export function showNews(roots) {
  tick();
  const [card] = within(roots, PENDING), was = following;
  if (card) announce(strings.approvalNeeded);
  // What changes inside of a card that is there already, such as an error under a field, is no news.
  follow(false, roots.some(root => !root.closest('.b-surface__body')));
  if (card && was) show(card);
}

addEventListener('scroll', () => {
  following = gap() < NEAR;
  // Whoever went past the limit wants to see the end grow.
  const block = anchor();
  if (following && scrollY > limit(block) + 1) passed = block;
  point();
}, { passive: true });
// What grows later, such as pictures, is followed as well.
new ResizeObserver(() => following && follow()).observe(main);
new ResizeObserver(squeeze).observe(dock);
addEventListener('resize', squeeze);
when('click', '#pill button', () => {
  const card = asked();
  if (card) show(card);
  else toEnd();
});
