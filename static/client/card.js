// An approval card in use, in the chat and in the admin: what is too long to show whole is opened before Approve counts.

import { all, byId, focus, when } from './dom.js';
import { strings } from './page.js';

const SENDS = '[data-act], [data-say], [data-stop], .b-approval__btns button';

// One press counts once, whatever comes under it meanwhile: not a double click, nor a key that is held down.
function twice(e) {
  if (!(e.detail > 1 || e.repeat && e.key === 'Enter') || !e.target.closest?.(SENDS)) return;
  e.preventDefault();
  e.stopPropagation();
}

function unfolded(fold) {
  const card = fold.closest('.b-approval');
  if (!card || !fold.open) return;
  fold.dataset.seen = '';
  if (all('.b-long:not([data-seen])', card).length) return;
  for (const button of all('[aria-disabled=true]', card)) {
    button.removeAttribute('aria-disabled');
    button.removeAttribute('aria-describedby');
  }
  for (const first of all('.b-approval__first', card)) first.hidden = true;
}

function unfold(link, e) {
  const fold = byId(link.hash.slice(1)).closest('details');
  e.preventDefault();
  fold.open = true;
  fold.scrollIntoView({ block: 'nearest' });
  focus(fold.firstElementChild);
}

export function startCards() {
  when('toggle', '.b-long', unfolded);
  when('click', '.b-approval__first a', unfold);
  when('click', '[data-copy]', async button => {
    await navigator.clipboard?.writeText(button.dataset.copy);
    button.title = button.ariaLabel = strings.copied;
    button.querySelector('use').setAttribute('href', '#i-check');
  });
  for (const type of ['click', 'keydown']) addEventListener(type, twice, true);
  // Before anybody else hears of it: such a button does nothing but say what is to be done first.
  addEventListener('click', e => {
    const button = e.target.closest?.('.b-approval [aria-disabled=true]');
    if (!button) return;
    e.preventDefault();
    e.stopPropagation();
    focus(button.closest('.b-approval').querySelector('.b-long:not([data-seen]) summary'));
  }, true);
}
