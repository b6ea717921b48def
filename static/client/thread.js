// The conversation as it grows: following the end, time.

import { all, byId, when } from './dom.js';
import { announce, main, root, strings, words } from './page.js';
import { timezone } from './session.js';

const NEAR = 96;                 // px from the end that still count as "at the end"
const MARGIN = 12;               // px between the bar on top and the beginning of an answer
const PENDING = '.b-approval[data-state=pending]';
const pill = byId('pill');
const html = document.documentElement;
let following = true, unseen = false, passed;

export const pending = () => document.querySelector(PENDING);
const top = element => element.getBoundingClientRect().top;
const bottom = element => element.getBoundingClientRect().bottom;
const edge = () => bottom(document.querySelector('.b-top'));                       // what covers the page from above,
const room = () => innerHeight - document.querySelector('.b-dock').offsetHeight;   // and where it is covered from below

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
const limit = block => !block || block === passed ? Infinity : top(block) + scrollY - edge() - MARGIN;

// ``force``: the person did something that is answered at the end, so that is where they want to be.
export function follow(force, news) {
  if (!byId('empty')) {
    const end = html.scrollHeight - innerHeight;
    const to = force ? end : following ? Math.min(end, limit(anchor())) : 0;
    if (to > scrollY) scrollTo({ top: to, behavior: 'instant' });
    following = force || (following && gap() < NEAR);
    unseen ||= news && !following;
  }
  point();
}

// To the end and on with it, however long the answer is.
export function toEnd() {
  passed = anchor();
  follow(true);
}

function scrolled() {
  following = gap() < NEAR;
  // Whoever went past the limit wants to see the end grow.
  const block = anchor();
  if (following && scrollY > limit(block) + 1) passed = block;
  point();
}

// The first question whose answers are below what can be seen.
const asked = () => all(`${PENDING} .b-approval__act`).find(act => bottom(act) > room());

function point() {
  // Who reads back is told of what has come meanwhile, and of a question; not that there is an end.
  const below = Boolean(asked()), near = following || gap() < NEAR, [button] = pill.children;
  if (near) unseen = false;
  pill.hidden = near || !(unseen || below);
  button.classList.toggle('b-pill--ask', below);
  button.lastElementChild.textContent = below ? strings.approvalBelow : strings.newBelow;
}

// -- time ------------------------------------------------------------------------------------------------------------

function tick() {
  for (const place of all('[data-expires]')) {
    const left = Math.ceil((Date.parse(place.dataset.expires) - Date.now()) / 1000);
    if (left > 3600) continue;
    const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    place.textContent = left > 0 ? words('expiresIn', clock) : strings.timeUp;
    // The server decides; this only keeps a person from pressing what can no longer count.
    if (left <= 0) for (const button of all('[data-decide]', place.closest('.b-approval'))) button.disabled = true;
  }
}

function days(roots) {
  const today = new Date().toLocaleDateString('en-CA', { timeZone: root.dataset.timezone || timezone });
  const names = new Intl.RelativeTimeFormat(html.lang, { numeric: 'auto' });
  for (const time of roots.flatMap(root => all('[data-day]', root))) {
    const ago = Math.round((Date.parse(time.dateTime) - Date.parse(today)) / 864e5);
    const name = ago === 0 || ago === -1 ? names.format(ago, 'day') : time.textContent;
    time.textContent = name[0].toLocaleUpperCase() + name.slice(1);
  }
}

// -- after every frame -----------------------------------------------------------------------------------------------

export function showNews(roots) {
  days(roots);
  tick();
  if (roots.some(root => root.matches(PENDING) || root.querySelector(PENDING))) announce(strings.approvalNeeded);
  // What changes inside of a card that is there already, such as an error under a field, is no news.
  follow(false, roots.some(root => !root.closest('.b-surface__body')));
}

export function startThread() {
  addEventListener('scroll', scrolled, { passive: true });
  // What grows later, such as pictures, is followed as well.
  new ResizeObserver(() => following && follow()).observe(main);
  when('click', '#pill button', () => {
    const act = asked();
    if (!act) return toEnd();
    // All of the card where there is room; else its answers, with as much above them as fits.
    const card = act.closest('.b-approval');
    (card.offsetHeight < room() - edge() ? card : act).scrollIntoView({ block: 'center' });
  });
  setInterval(tick, 1000);
  days([main]);
  tick();
}
