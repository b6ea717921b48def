// Decisions on approvals: a click that the card shows as on its way until there is an answer.

import { all, focus, make, when } from './dom.js';
import { flush } from './fields.js';
import { main, strings } from './page.js';
import { send } from './port.js';

const undo = new Map();          // approval -> what gives the card back; false: it has moved on by itself

function decide(button) {
  const card = button.closest('.b-approval'), { approval, decide: decision } = button.dataset;
  if (card.dataset.state !== 'pending') return;
  flush();
  card.querySelector('.b-approval__refused')?.remove();
  const state = card.querySelector('.b-approval__state'), before = state.cloneNode(true);
  const become = (name, disabled) => {
    card.dataset.state = name;
    for (const other of all('[data-decide]', card)) other.disabled = disabled;
  };
  // A disabled button lets go of focus; the card keeps it until there is an answer.
  focus(card);
  become('deciding', true);
  state.replaceChildren(make('span', { className: 'b-spin' }), strings.deciding);
  undo.set(approval, () => {
    if (card.dataset.state !== 'deciding') return false;
    become('pending', false);
    state.replaceWith(before);
    if (document.activeElement === card) focus(button);
  });
  send({ type: 'decide', approval, decision }, { keep: true });
}

// On the card that waits again. A card that has been decided says so itself, to a page that was loaded again too.
function turnedDown({ code, message }, { approval }) {
  if (undo.get(approval)?.() === false) return false;
  const act = all('[data-decide]', main).find(button => button.dataset.approval === approval)?.closest('.b-approval__act');
  act?.before(make('p', { className: 'a2-error b-approval__refused', role: 'alert', textContent: message }));
  return act || code === 'whyReloaded';
}

export const decisions = { refused: turnedDown };

export function startDecisions() {
  when('click', '[data-decide]', decide);
}
