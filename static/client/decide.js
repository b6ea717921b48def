// Decisions on approvals: a click that the card shows as on its way until there is an answer.

import { all, focus, make, when } from './dom.js';
import { flush } from './fields.js';
import { strings } from './page.js';
import { send } from './port.js';

const undo = new Map();          // approval -> what gives the card back, with a reason

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
  undo.set(approval, message => {
    if (card.dataset.state !== 'deciding') return false;
    become('pending', false);
    state.replaceWith(before);
    if (document.activeElement === card) focus(button);
    const note = make('p', { className: 'a2-error b-approval__refused', role: 'alert', textContent: message });
    card.querySelector('.b-approval__act').before(note);
    return true;
  });
  send({ type: 'decide', approval, decision });
}

export const decisions = { refused: ({ message }, { approval }) => undo.get(approval)?.(message) };

export function startDecisions() {
  when('click', '[data-decide]', decide);
}
