// Time as the server has it: what the clock of the browser says, or is set to meanwhile, has no part in it.

import { all } from './dom.js';
import { strings, words } from './page.js';

const SOON = 180;                // seconds left that deserve a second look
const { lang } = document.documentElement;
let ahead = 0;                   // the server's time when the browser began to count

// ``now`` in epoch milliseconds, as it was ``at`` so many milliseconds of this page.
export function calibrate(now, at = performance.now()) { ahead = now - at; }

export const serverNow = () => ahead + performance.now();

// Says how long there is. It decides nothing: when time is up, the server says so.
export function tick() {
  const now = serverNow(), narrow = new Intl.RelativeTimeFormat(lang, { style: 'narrow' });
  for (const place of all('[data-expires]')) {
    const left = Math.ceil((Date.parse(place.dataset.expires) - now) / 1000);
    if (left >= 3600) continue;
    place.textContent = left > 0 ? words('expiresIn', new Date(left * 1000).toISOString().slice(14, 19)) : strings.timeUp;
    place.parentNode.dataset.state = left < SOON ? 'soon' : '';
  }
  for (const time of all('[data-ago] time')) {
    const ago = Math.max(0, Math.round((now - Date.parse(time.dateTime)) / 1000));
    time.title ||= time.textContent;
    time.textContent = ago < 60 ? narrow.format(-ago, 'second') : ago < 3600 ? narrow.format(-Math.floor(ago / 60), 'minute') : time.title;
  }
}

export function startClock({ now }) {
  // The page was made when the answer began, not when its code came.
  calibrate(Number(now), performance.getEntriesByType('navigation')[0]?.responseStart ?? 0);
  tick();
  setInterval(tick, 1000);
}
