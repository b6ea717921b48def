// Time as the server has it: what the clock of the browser says, or is set to meanwhile, has no part in it.

import { all, html, say } from './dom.js';
import { facts, strings, words } from './page.js';

const SOON = 180;                // seconds left that deserve a second look
let ahead = 0;                   // the server's time when the browser began to count

// ``now`` in epoch milliseconds, as it was ``at`` so many milliseconds of this page.
export function calibrate(now, at = performance.now()) { ahead = now - at; }

// Says how long there is and how long ago something was. It decides nothing: when time is up, the server says so.
export function tick() {
  const now = ahead + performance.now(), near = new Intl.RelativeTimeFormat(html.lang, { style: 'narrow', numeric: 'auto' });
  const today = Date.parse(new Date(now).toLocaleDateString('en-CA', { timeZone: facts.timezone || undefined }));
  for (const place of all('[data-expires]')) {
    const left = Math.ceil((Date.parse(place.dataset.expires) - now) / 1000);
    if (left >= 3600) continue;
    say(place, left > 0 ? words('expiresIn', new Date(left * 1000).toISOString().slice(14, 19)) : strings.timeUp);
    place.parentNode.dataset.state = left < SOON ? 'soon' : '';
  }
  for (const time of all('[data-day], [data-ago] time')) {
    const at = Date.parse(time.dateTime), days = (at - today) / 864e5, minutes = Math.min(0, Math.ceil((at - now) / 60000));
    time.title ||= time.textContent;
    say(time, 'day' in time.dataset ? days > -2 ? near.format(Math.round(days), 'day') : time.title
      : minutes > -60 ? near.format(minutes, 'minute') : time.title);
  }
}

export function startClock() {
  // The page was made soon after it was asked for, whenever its code came.
  calibrate(+facts.now, 0);
  tick();
  setInterval(tick, 1000);
}
