// How many approvals wait, asked of the server while the desk is open: the head of every page follows, and so do lists.

import { all, one, say } from './dom.js';

export const OFTEN = 1500, SELDOM = 15000;      // ms: while somebody looks, and while nobody does
let version, waiting;

function count({ count, counted }) {
  for (const badge of all('[data-waiting]')) {
    badge.hidden = !count;
    say(badge.firstElementChild, count);
    say(badge.lastElementChild, counted);
  }
  const title = document.title.replace(/^\(\d+\+?\) /, '');
  document.title = count ? `(${count}) ${title}` : title;
}

function live(on) {
  const mark = one('[data-live]');
  if (!mark) return;
  mark.hidden = false;
  mark.dataset.live = on ? 'yes' : 'no';
}

async function ask(address) {
  clearTimeout(waiting);
  try {
    const reply = await fetch(address, { headers: { Accept: 'application/json' }, redirect: 'manual' });
    live(reply.ok);
    // Signed out, or without the right since: asking again would change nothing.
    if (reply.status === 403) return;
    if (reply.ok) {
      const found = await reply.json(), changed = version !== undefined && version !== found.version;
      version = found.version;
      count(found);
      if (changed) dispatchEvent(new CustomEvent('pulse'));
    }
  } catch {
    live(false);
  }
  waiting = setTimeout(ask, document.hidden ? SELDOM : OFTEN, address);
}

export function startPulse() {
  const { pulse } = document.body.dataset;
  if (!pulse) return;
  ask(pulse);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) ask(pulse); });
}
