// What belongs to the browser alone (D43): which tab is chosen, which dialog open, what a list of choices is filtered by.
// It comes with the first surface that has any of it.

import { all, focused, one, when, within } from './dom.js';

const tabs = new Map();        // instance id -> id of the chosen panel
const dialogs = new Set();     // instance ids with an open dialog
const filters = new Map();     // instance id -> text
const TAB = '[data-tabs] [role=tab]';

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
// A trigger may hold a dialog of its own.
when('click', '[data-modal-open]', (opener, e) => opener.contains(e.target.closest('dialog')) || open(opener.closest('[data-modal]')));
// What opens a dialog without being a button of its own is pressed like one.
when('keydown', '[data-modal-open] > [role=button]', (opener, e) => {
  if (e.target !== opener || !/^(Enter| )$/.test(e.key)) return;
  e.preventDefault();
  opener.click();
});
when('close', '[data-modal]', modal => dialogs.delete(modal.id));
when('input', '[data-filter]', filter);
