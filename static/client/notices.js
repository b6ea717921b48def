// Whoever looks elsewhere hears that a question waits: by the title of the tab and its icon, and by the system where they
// have asked for that.

import { byId, one, say, when } from './dom.js';
import { facts, strings, toast } from './page.js';
import { PENDING } from './thread.js';

const KEY = 'beach.notify';
const title = byId('tab'), icon = one('link[rel=icon]'), calm = icon.href, button = byId('notify'), thread = byId('thread');
// Found once for all: to look through a long conversation takes a while.
const cards = thread.getElementsByClassName('b-approval');
const waiting = () => [...cards].filter(card => card.matches(PENDING));
const known = new Set(waiting().map(card => card.id));
let mark = '';

// Storage may be forbidden: then nobody is notified.
const chosen = () => { try { return localStorage.getItem(KEY) === 'on'; } catch { return false; } };
const may = () => window.Notification?.permission === 'granted' && chosen();

function notify(card) {
  try {
    const told = new Notification(strings.approvalNeeded, { body: one('.b-approval__ask', card).textContent, tag: card.id });
    told.onclick = () => { focus(); told.close(); };
  } catch { /* Not from a page, on phones. */ }
}

function draw() {
  const now = waiting(), plain = title.textContent.startsWith(mark) ? title.textContent.slice(mark.length) : title.textContent;
  mark = now.length ? `(${now.length}) ${strings.approvalNeeded} · ` : '';
  say(title, mark + plain);
  const href = mark ? facts.waits : calm;
  if (icon.getAttribute('href') !== href) icon.href = href;
  (mark ? navigator.setAppBadge?.(now.length) : navigator.clearAppBadge?.())?.catch(() => {});
  for (const card of now) {
    if (!known.has(card.id) && document.hidden && may()) notify(card);
    known.add(card.id);
  }
}

new MutationObserver(draw).observe(thread, { subtree: true, childList: true, attributeFilter: ['data-state'] });
// The server names the conversation, and then the whole title is the server's again.
new MutationObserver(draw).observe(title, { childList: true });
draw();

if (button && window.Notification) {
  button.hidden = false;
  button.ariaPressed = may();
  when('click', '#notify', async () => {
    const on = !may();
    if (on && await Notification.requestPermission() !== 'granted') toast(strings.notifyBlocked);
    try { localStorage.setItem(KEY, on ? 'on' : 'off'); } catch { /* stays as it was */ }
    button.ariaPressed = may();
  });
}
