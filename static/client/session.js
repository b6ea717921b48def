// The conversation of the page: there from the beginning, or made by the first message. A new page has none: nothing is
// stored for somebody who only looks.

import { byId } from './dom.js';
import { root, strings } from './page.js';
import { carry } from './port.js';
import { connect, dial, post } from './socket.js';

export const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

let host, beginning;

// Returns the messages from before a reload.
export function join(handlers) {
  const id = root.dataset.session;
  host ??= handlers;
  return id ? connect(`${location.origin.replace('http', 'ws')}/ws/chat/${id}/`, `beach:${id}`, host) : [];
}

export function begin() {
  if (root.dataset.session) dial();
}

async function create() {
  const form = byId('new');
  form.elements.timezone.value = timezone;
  const answer = await fetch(form.action, { method: 'POST', body: new FormData(form), headers: { Accept: 'application/json' } });
  if (!answer.ok) throw answer;
  const { id, url } = await answer.json();
  root.dataset.session = id;
  history.replaceState(null, '', url);
  join();
  begin();
}

carry((message, how) => {
  if (root.dataset.session) return post(message, how);
  beginning ??= create();
  beginning.then(() => post(message, how), () => {
    beginning = null;
    host.error({ id: message.id, message: strings.notBegun }, message);
  });
  return message.id;
});
