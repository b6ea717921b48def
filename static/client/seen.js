// The conversation beside an approval, as its own page in the desk shows it: that page is asked for, so it is what the
// visitor sees, and nobody is told that they have seen it. Nothing in it can be pressed. Who reads its end stays there.

import { all, make, one, parse } from './dom.js';

const NEAR_END = 32;             // px
const NAMING = ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls'];

// True once it is shown as it is now, or where there is none on the page.
export async function showSeen() {
  const place = one('[data-seen]');
  if (!place) return true;
  const reply = await fetch(place.dataset.seen).catch(() => null);
  const seen = reply?.ok && !reply.redirected && one('.dk-seen', parse(await reply.text()));
  if (!seen) return;
  for (const element of all('legend, .dk-fold, .b-earlier, .b-approval__btns, .b-approval__edit', seen)) element.remove();
  // Its elements are known by their ids on its own page; on this one they would be there twice. What names them still does.
  for (const element of all('[id]', seen)) element.id = `seen-${element.id}`;
  for (const name of NAMING) {
    for (const element of all(`[${name}]`, seen)) {
      element.setAttribute(name, element.getAttribute(name).trim().split(/\s+/).map(id => `seen-${id}`).join(' '));
    }
  }
  const still = make('fieldset', { className: 'dk-still', disabled: true });
  still.append(...seen.childNodes);
  if (still.isEqualNode(place.firstChild)) return true;
  const { scrollTop, scrollHeight, clientHeight } = place, wasRead = one('.dk-still', place);
  place.replaceChildren(still);
  place.scrollTop = wasRead && scrollTop + clientHeight < scrollHeight - NEAR_END ? scrollTop : place.scrollHeight;
  return true;
}
