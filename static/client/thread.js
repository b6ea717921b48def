// The conversation as it grows: following the end.

import { hold } from './apply.js';
import { tick } from './clock.js';
import { all, byId, focused, html, one, top, when, within } from './dom.js';
import { announce, facts, main, root, strings } from './page.js';

const NEAR = 96;                 // px from the end that still count as "at the end"
const END = 1e9;                 // px: as far as there is
const MARGIN = 12;               // px between the bar on top and the beginning of an answer
const RING = 5;                  // px around what has the focus
const REST = 99;                 // ms without a move after which a line counts as being read
// Questions for whoever reads: not those that they have answered, as one of several, or may not answer.
const ANSWERED = facts.decides.includes('owner') ? ':not([data-given], [data-four-eyes])' : '';
export const PENDING = `.b-approval[data-state=pending]${ANSWERED}`;
const pill = byId('pill'), dock = one('.b-dock');
const space = () => innerHeight - dock.offsetHeight;
// Where the address leads to, or a link in the page; where that is not here, the server knows.
onhashchange = () => {
  const to = location.hash.match(/^#([\w-]+)$/)?.[1];
  if (to && !byId(to) && !byId('empty')) location = `at/${to}`;
  return to;
};
export const aim = onhashchange();
let following = !aim, unseen, could = false, clear = true, passed, spare = space(), back, resting, wide = innerWidth;

export const pending = () => one(PENDING);
const bottom = element => element.getBoundingClientRect().bottom;
const edge = () => Math.max(0, bottom(one('.b-top')));          // where the page is covered from above, if it is,
const room = () => top(dock) + 1;                               // and from below

// -- following -------------------------------------------------------------------------------------------------------

const gap = () => html.scrollHeight - innerHeight - scrollY;

const newest = () => byId('tail').lastElementChild ?? byId('tail').previousElementSibling;

// What must stay in view while something comes in below it: where the newest answer begins, with the words or the click
// that it answers, unless those alone would fill the page.
function anchor() {
  const last = newest();
  const asked = last.matches('.b-turn') ? last.previousElementSibling : last;
  if (!asked.matches('.b-me, .b-event')) return last === asked ? null : last;
  return asked.offsetHeight < innerHeight / 3 ? asked : last;
}

// How far the page may scroll by itself: who reads should not lose the line they are at, nor who writes the field.
const limit = block => !block || block === passed ? END : top(block) + scrollY - edge() - MARGIN;

// ``force``: the person did something that is answered at the end, so that is where they want to be. ``news`` are elements.
export function follow(force, news = []) {
  if (!byId('empty')) {
    const was = following, to = force ? END : was ? limit(anchor()) : 0;
    if (to > scrollY) scrollTo(0, to);
    if (clear && !force && (!following || focused().closest('[data-in]'))) reveal();
    following = force || (following && gap() < NEAR);
    // What is new in sight, or above, is not below. An answer that has become longer than the page goes on there.
    if (!following) unseen = news.findLast(isBelow) ?? (was ? newest() : unseen);
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

// Found once for all: to look through a long conversation takes a while, and this is asked whenever it is scrolled.
const choices = main.getElementsByClassName('b-approval__btns'), missing = main.getElementsByClassName('b-earlier');
const buttons = () => [...choices].filter(place => place.offsetHeight && place.closest(PENDING));
// Below what can be seen; what has gone meanwhile is nowhere.
const isBelow = element => element && bottom(element) > room();
// The first question whose answers are.
const asked = () => buttons().find(isBelow)?.closest('.b-approval');
const answerable = () => buttons().some(place => !isBelow(place) && top(place) >= edge());

function point() {
  // Who reads back is told of what has come meanwhile, until they have seen it, and of a question; not that there is an end.
  const below = !!asked();
  if (following || !isBelow(unseen)) unseen = 0;
  could = answerable();
  clear = !hidden();
  pill.hidden = could || !(unseen || below);
  pill.dataset.asks = below;
}

// -- what has the focus ----------------------------------------------------------------------------------------------

// How far the page must go for it to be in sight: with its label, clear of the composer and of answers that stick above
// that. What is higher than the room that there is stays where the browser has put it.
function hidden() {
  const at = focused(), foot = at.closest('.b-approval__body')?.nextElementSibling ?? dock;
  if (at.closest('#thread, dialog, nav, [popover]') !== main) return 0;
  const shown = at.closest('label') ?? at, over = top(shown) - edge() - RING;
  const under = bottom(shown) + RING - Math.min(top(foot), pill.hidden ? room() : top(pill));
  return over < under ? 0 : Math.min(over, Math.max(0, under));
}

function reveal() {
  // A list that scrolls by itself may hide it too: browsers lose their hold on what is moved.
  if (hidden()) focused().scrollIntoView({ block: 'nearest' });
  scrollBy(0, hidden());
}

// The box for writing has grown, or a keyboard has come up: whoever is at the end stays there, and answers that were in
// sight stay in sight.
export function squeeze() {
  const lost = spare - space();
  spare -= lost;
  root.style.setProperty('--b-dock-h', `${dock.offsetHeight}px`);
  if (lost > 0 && (following || could)) scrollBy(0, lost);
  // A phone is turned: the line stays that was read.
  if (wide !== (wide = innerWidth) && !following) back?.();
  if (clear) reveal();
  point();
}

// -- after every frame -----------------------------------------------------------------------------------------------

export function showNews(roots) {
  tick();
  const [card] = within(roots, PENDING), was = following;
  if (card) announce(strings.approvalNeeded);
  // What changes inside of a card that is there already, such as an error under a field, is no news.
  follow(false, roots.filter(root => !root.closest('.b-surface__body')));
  if (card && was) show(card);
}

addEventListener('scroll', () => {
  following = gap() < NEAR;
  // Whoever went past the limit wants to see the end grow.
  const block = anchor();
  if (following && scrollY > limit(block) + 1) passed = block;
  // What is missing a window's height from here is asked for, once: what fails waits for the person.
  for (const { firstChild: link } of [...missing]) if (!link.ariaBusy && Math.abs(top(link)) < innerHeight) link.click();
  clearTimeout(resting);
  resting = setTimeout(() => { back = hold(); }, REST);
  point();
});
// Where it came from was in sight or does not matter. Under a pointer that is pressed nothing may move.
when('focusout', '#thread', () => { clear = true; });
when('focusin', '#thread :not(:active)', () => clear && requestAnimationFrame(reveal));
// What grows later, such as pictures, is followed as well.
new ResizeObserver(() => follow()).observe(main);
new ResizeObserver(squeeze).observe(dock);
when('click', '#pill button', () => {
  const card = asked();
  if (card) show(card);
  else toEnd();
});
