// The conversation of the page: there from the beginning, or made when there is something to send. A new page has none:
// nothing is stored for somebody who only looks.

import { byId } from './dom.js';
import { birthKey, post, settleIn } from './outbox.js';
import { facts } from './page.js';
import { carry } from './port.js';
import { ask, dial } from './socket.js';

let beginning;

// However often it is asked for, it is made once: the key is the page's (D62). Returns what is in the way, if anything.
export const begin = signal => beginning ??= create(signal).finally(() => { beginning = null; });

async function create(signal) {
  const form = byId('new'), { elements } = form;
  const request = () => fetch(form.action, { method: 'POST', body: new FormData(form), headers: { Accept: 'application/json' }, signal });
  elements.timezone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  elements.key.value = birthKey();
  // Loaded again meanwhile, the page is this one, and not the newest conversation.
  history.replaceState(null, '', facts.new);
  let reply = await request();
  // The token is of a login that was another one.
  if (reply.status === 403) {
    const found = await ask();
    if (found) return { cause: found };
    reply = await request();
  }
  const { ok, status, headers } = reply;
  if (status === 401) return { cause: 'signedOut' };
  if (status >= 500 || /408|429/.test(status)) return { cause: 'away', after: 1000 * headers.get('retry-after') };
  if (!ok) return { cause: 'unmade', key: birthKey(status === 409) };
  const { id, url } = await reply.json();
  settleIn(id);
  history.replaceState(null, '', url);
}

carry((message, how) => {
  const id = post(message, how);
  dial();
  return id;
});
