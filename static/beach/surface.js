// Surfaces: clicks that send nothing but a name, and what belongs to the browser alone: tab, dialog, filter (D43).

import { flush } from './fields.js';

const tabs = new Map();        // instance id -> id of the chosen panel
const dialogs = new Set();     // instance ids with an open dialog
const filters = new Map();     // instance id -> text
let options;

function click(button) {
  if (button.getAttribute('aria-busy') === 'true' || button.getAttribute('aria-disabled') === 'true') return;
  flush();
  button.setAttribute('aria-busy', 'true');
  options.send({ type: 'action', target: button.id });
}

// The next items of a list that is too long to be shown at once. The row brings them; focus stays on the button, or on
// the notice once there are no more (see keepingFocus).
function more(button) {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  options.send({ type: 'show', target: button.dataset.more });
}

const done = target => document.getElementById(target)?.removeAttribute('aria-busy');

export function acked({ effect }, { type, target }) {
  done(type === 'show' ? `${target}-xb` : target);
  if (effect?.openUrl) open(effect.openUrl);
  else if (type === 'action') options.sent();
}

export function refused({ message }, { type, target }) {
  done(type === 'show' ? `${target}-xb` : target);
  options.toast(message, 'bad');
}

function open(address) {
  let url;
  try { url = new URL(address); } catch { return; }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  const link = Object.assign(document.createElement('a'), { href: url.href, target: '_blank', rel: 'noopener noreferrer' });
  // Without a recent click a browser refuses in silence: then the person opens it.
  if (navigator.userActivation?.isActive ?? true) return link.click();
  link.textContent = url.host;
  options.toast(options.strings.open, '', link);
}

// -- tabs ------------------------------------------------------------------------------------------------------------

const own = (instance, selector) => [...instance.querySelectorAll(selector)].filter(el => el.closest('[data-tabs]') === instance);

function choose(instance, tab, focus) {
  for (const other of own(instance, '[role=tab]')) {
    const chosen = other === tab;
    other.setAttribute('aria-selected', chosen);
    other.tabIndex = chosen ? 0 : -1;
  }
  for (const panel of own(instance, '[role=tabpanel]')) panel.hidden = panel.id !== tab.getAttribute('aria-controls');
  tabs.set(instance.id, tab.getAttribute('aria-controls'));
  if (focus) tab.focus();
}

function arrow(e, tab) {
  const instance = tab.closest('[data-tabs]');
  const all = own(instance, '[role=tab]').filter(t => !t.disabled), at = all.indexOf(tab);
  const forward = getComputedStyle(tab).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
  const back = forward === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft';
  const to = { [forward]: at + 1, [back]: at - 1, Home: 0, End: all.length - 1 }[e.key];
  if (to === undefined || !all.length) return;
  e.preventDefault();
  choose(instance, all[(to + all.length) % all.length], true);
}

// -- dialogs ---------------------------------------------------------------------------------------------------------

function show(instance) {
  const dialog = instance.querySelector('dialog');
  if (!dialog || dialog.open) return;
  dialog.showModal();
  dialogs.add(instance.id);
}

// -- filter ----------------------------------------------------------------------------------------------------------

function filter(input) {
  const instance = input.closest('[data-in]') ?? input.parentElement;
  filters.set(instance.id, input.value);
  const wanted = input.value.trim().toLocaleLowerCase();
  for (const option of instance.querySelectorAll('label:has(input), option')) {
    if (option.contains(input)) continue;
    option.hidden = wanted !== '' && !option.textContent.toLocaleLowerCase().includes(wanted);
  }
}

// -- after every frame -----------------------------------------------------------------------------------------------

const within = (roots, selector) => roots.flatMap(root => [...(root.matches(selector) ? [root] : []), ...root.querySelectorAll(selector)]);

export function restore(roots) {
  for (const el of within(roots, '[data-theme-primary]')) el.style.setProperty('--a2-primary', el.dataset.themePrimary);
  for (const instance of within(roots, '[data-tabs]')) {
    const all = own(instance, '[role=tab]');
    const tab = all.find(t => t.getAttribute('aria-controls') === tabs.get(instance.id)) ?? all.find(t => t.ariaSelected === 'true') ?? all[0];
    if (tab && (tabs.has(instance.id) || tab.ariaSelected !== 'true')) choose(instance, tab);
  }
  for (const instance of within(roots, '[data-modal]')) if (dialogs.has(instance.id)) show(instance);
  for (const input of within(roots, '[data-filter]')) {
    const text = filters.get((input.closest('[data-in]') ?? input.parentElement).id);
    if (text === undefined) continue;
    if (document.activeElement !== input) input.value = text;
    filter(input);
  }
}

export function start(root, given) {
  options = given;
  root.addEventListener('click', e => {
    const tab = e.target.closest('[data-tabs] [role=tab]');
    if (tab) choose(tab.closest('[data-tabs]'), tab);
    const button = e.target.closest('[data-act]');
    if (button && !button.disabled) click(button);
    const further = e.target.closest('[data-more]');
    if (further) more(further);
    const opener = e.target.closest('[data-modal-open]');
    if (opener && !e.target.closest('dialog')) show(opener.closest('[data-modal]'));
    if (e.target.closest('[data-modal-close]') || e.target.matches('[data-modal] > dialog')) e.target.closest('dialog').close();
  });
  root.addEventListener('keydown', e => {
    const tab = e.target.closest?.('[data-tabs] [role=tab]');
    if (tab) arrow(e, tab);
  });
  root.addEventListener('input', e => e.target.matches('[data-filter]') && filter(e.target));
  // "close" does not bubble.
  root.addEventListener('close', e => {
    const instance = e.target.closest?.('[data-modal]');
    if (instance) dialogs.delete(instance.id);
  }, true);
  restore([root]);
}
