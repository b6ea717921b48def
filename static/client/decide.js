// Decisions on approvals: a click that the card shows as on its way until there is an answer.

import { all, focus, focused, make, one, when } from './dom.js';
import { flush } from './fields.js';
import { send } from './port.js';

function mark(card, state) {
  card.dataset.state = state;
  for (const button of all('[data-decide]', card)) button.disabled = state === 'deciding';
}

// One that is waiting for something to be read first does not count (see card.js).
when('click', '[data-decide]:not([aria-disabled=true])', button => {
  const card = button.closest('.b-approval'), { approval, decide: decision } = button.dataset;
  if (card.dataset.state !== 'pending') return;
  flush();
  one('.b-approval__refused', card)?.remove();
  // A disabled button lets go of focus; the card keeps it until there is an answer.
  focus(card);
  mark(card, 'deciding');
  send({ type: 'decide', approval, decision }, { keep: true });
});

export const decisions = {
  // On the card that waits again. A card that has been decided says so itself, to a page that was loaded again too.
  refused({ code, message }, { approval, decision }) {
    const button = one(`[data-approval="${approval}"][data-decide=${decision}]`), card = button?.closest('.b-approval');
    // Its row is on the way and takes the card's place, with whatever is said on it.
    if (!card || /already/.test(code)) return code === 'whyReloaded';
    mark(card, 'pending');
    if (focused() === card) focus(button);
    button.parentNode.before(make('p', { className: 'a2-error b-approval__refused', role: 'alert', textContent: message }));
    return true;
  },
};
