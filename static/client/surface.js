// Surfaces: clicks that send nothing but a name, and colours of their own.

import { make, one, when, within } from './dom.js';
import { flush } from './fields.js';
import { main, strings, toast, use } from './page.js';
import { send } from './port.js';

export const clicks = {
  acked({ effect }) {
    if (!/^https?:/i.test(effect?.openUrl)) return;
    const link = make('a', { href: effect.openUrl, target: '_blank', rel: 'noreferrer' });
    // Without a recent click a browser refuses in silence: then the person opens it.
    if (navigator.userActivation?.isActive ?? true) return link.click();
    link.textContent = link.host;
    toast(strings.open, link);
  },
};

// What comes with the first surface that has such a thing: modules of their own.
const PARTS = [['widgets', '[data-tabs], [data-modal], [data-filter]'], ['table', '[data-sort]']];

// After every frame.
export async function restore(roots) {
  for (const element of within(roots, '[data-theme-primary]')) element.style.setProperty('--a2-primary', element.dataset.themePrimary);
  for (const [name, marks] of PARTS) if (within(roots, marks).length) (await use(name))?.restore?.(roots);
}

// A button of the agent's, or the one for more of a list or of the conversation, which is a link without script. The row
// of the latter brings the items; focus stays on the button, or on the notice once there are no more (see keepingFocus).
when('click', '[data-act], [data-more]', (button, e) => {
  e.preventDefault();
  if (button.disabled || button.ariaDisabled === 'true') return;
  const list = button.dataset.more;
  // A field shows what the server has refused (see explain in fields.js): what is sent would be something else.
  const wrong = !list && one('[aria-errormessage$="-refused"]', button.closest('.a2-surface') ?? button);
  if (wrong) return wrong.focus();
  flush();
  send({ type: list ? 'show' : 'action', target: list ?? button.id }, { button });
});
// By its button, or by a click on what is around it; also the page's own.
when('click', 'dialog, [data-modal-close]', (at, e) => {
  if (at === e.target || at.localName !== 'dialog') at.closest('dialog')?.close();
});
restore([main]);
