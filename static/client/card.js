// An approval card in use, in the chat and in the admin: what is too long to show whole is opened before Approve counts.

import { all, focus, one, when } from './dom.js';
import { strings } from './page.js';

// One press counts once, whatever comes under it meanwhile: not a double click, nor a key that is held down.
function twice(e) {
  if (!(e.detail > 1 || e.repeat && e.key === 'Enter') || !e.target.closest?.('[data-act], [data-say], [data-stop], .b-approval__btns')) return;
  e.preventDefault();
  e.stopPropagation();
}

export function startCards() {
  // A link to what is folded opens it, as browsers do for an address that leads there.
  when('toggle', '.b-long', fold => {
    const card = fold.closest('.b-approval');
    if (!card || !fold.open) return;
    fold.dataset.seen = '';
    if (one('.b-long:not([data-seen])', card)) return;
    for (const button of all('[aria-disabled=true]', card)) button.ariaDisabled = null;
    // It describes the buttons no more.
    one('.b-approval__first', card)?.remove();
  });
  when('click', '[data-copy]', async button => {
    await navigator.clipboard?.writeText(button.dataset.copy);
    button.title = button.ariaLabel = strings.copied;
  });
  for (const type of ['click', 'keydown']) addEventListener(type, twice, true);
  // Such a button does nothing but say what is to be done first.
  when('click', '.b-approval [aria-disabled=true]', (button, e) => {
    e.preventDefault();
    focus(one('.b-long:not([data-seen]) summary', button.closest('.b-approval')));
  });
}
