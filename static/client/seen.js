// The conversation beside an approval, as its own page shows it: that page is asked for, so it is what the visitor sees, by
// the rights of whoever looks. Nothing in it can be pressed.

import { all, make, one, parse } from './dom.js';

export async function showSeen() {
  const place = one('[data-seen]');
  if (!place) return;
  const reply = await fetch(place.dataset.seen).catch(() => null);
  const thread = reply?.ok && one('#thread', parse(await reply.text()));
  if (!thread) return;
  const still = make('fieldset', { className: 'dk-still', disabled: true });
  still.append(...thread.childNodes);
  for (const element of all('.b-approval__btns, .b-approval__edit', still)) element.remove();
  // Its elements are known by their ids on its own page; on this one they would be there twice.
  for (const element of all('[id]', still)) element.removeAttribute('id');
  place.replaceChildren(still);
  place.scrollTop = place.scrollHeight;
}
