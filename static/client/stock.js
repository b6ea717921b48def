// What the stock forms of the admin leave without a name or a role: the two boxes of a moment, and the help of a filter.
// Their own scripts make some of it when the page has loaded, and have asked to hear of that before this one does.

import { all } from './dom.js';

export function nameStock() {
  addEventListener('load', () => {
    for (const box of all('.datetime input')) {
      box.ariaLabel = box.previousSibling.textContent.trim().replace(/:$/, '');
    }
    for (const help of all('.help-tooltip[aria-label]')) help.role = 'img';
  });
}
