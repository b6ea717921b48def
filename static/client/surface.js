// Surfaces: clicks that send nothing but a name, and what belongs to the browser alone: tab, dialog, filter (D43).

import { all, focused, make, one, when, within } from './dom.js';
import { flush } from './fields.js';
import { main, strings, toast } from './page.js';
import { send } from './port.js';

const tabs = new Map();        // instance id -> id of the chosen panel
const dialogs = new Set();     // instance ids with an open dialog
const filters = new Map();     // instance id -> text
const TAB = '[data-tabs] [role=tab]';

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

// -- tabs ------------------------------------------------------------------------------------------------------------

// Tabs may hold tabs.
const own = (instance, role) => all(`[role=${role}]`, instance).filter(element => element.closest('[data-tabs]') === instance);
const panelOf = tab => tab.getAttribute('aria-controls');

function choose(tab) {
  const instance = tab.closest('[data-tabs]');
  for (const other of own(instance, 'tab')) {
    other.ariaSelected = other === tab;
    other.tabIndex = -(other !== tab);
  }
  for (const panel of own(instance, 'tabpanel')) panel.hidden = panel.id !== panelOf(tab);
  tabs.set(instance.id, panelOf(tab));
}

// -- dialogs and filters ---------------------------------------------------------------------------------------------

function open(instance) {
  const dialog = one('dialog', instance);
  if (!dialog || dialog.open) return;
  dialog.showModal();
  dialogs.add(instance.id);
}

const filtered = input => input.closest('[data-in]') ?? input.parentElement;

function filter(input) {
  const instance = filtered(input), wanted = input.value.trim().toLocaleLowerCase();
  filters.set(instance.id, input.value);
  for (const option of all('label:has(input), option', instance)) {
    option.hidden = !option.contains(input) && !option.textContent.toLocaleLowerCase().includes(wanted);
  }
}

// -- after every frame -----------------------------------------------------------------------------------------------

export function restore(roots) {
  for (const element of within(roots, '[data-theme-primary]')) element.style.setProperty('--a2-primary', element.dataset.themePrimary);
  for (const instance of within(roots, '[data-tabs]')) {
    const several = own(instance, 'tab');
    const tab = several.find(tab => panelOf(tab) === tabs.get(instance.id)) ?? several[0];
    if (tab && (tabs.has(instance.id) || tab.ariaSelected !== 'true')) choose(tab);
  }
  for (const instance of within(roots, '[data-modal]')) if (dialogs.has(instance.id)) open(instance);
  for (const input of within(roots, '[data-filter]')) {
    const text = filters.get(filtered(input).id);
    if (text === undefined) continue;
    if (focused() !== input) input.value = text;
    filter(input);
  }
}

when('click', TAB, choose);
when('keydown', TAB, (tab, e) => {
  const several = own(tab.closest('[data-tabs]'), 'tab').filter(other => !other.disabled), at = several.indexOf(tab);
  const step = getComputedStyle(tab).direction === 'rtl' ? -1 : 1;
  const to = { ArrowRight: at + step, ArrowLeft: at - step, Home: 0, End: -1 }[e.key];
  if (to === undefined) return;
  e.preventDefault();
  const next = several.at(to % several.length);
  choose(next);
  next.focus();
});
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
// A trigger may hold a dialog of its own.
when('click', '[data-modal-open]', (opener, e) => opener.contains(e.target.closest('dialog')) || open(opener.closest('[data-modal]')));
// What opens a dialog without being a button of its own is pressed like one.
when('keydown', '[data-modal-open] > [role=button]', (opener, e) => {
  if (e.target !== opener || !/^(Enter| )$/.test(e.key)) return;
  e.preventDefault();
  opener.click();
});
when('close', '[data-modal]', modal => dialogs.delete(modal.id));
// By its button, or by a click on what is around it; also the page's own.
when('click', 'dialog, [data-modal-close]', (at, e) => {
  if (at === e.target || at.localName !== 'dialog') at.closest('dialog')?.close();
});
when('input', '[data-filter]', filter);
restore([main]);
