// Single keys, for those who decide all day. Whoever does not want them switches them off ("?").

import { all, byId, focused, one, when } from './dom.js';

const on = () => { try { return localStorage.getItem('beach-keys') !== 'off'; } catch { return true; } };

function move(step) {
  const links = all('.dk-table tbody th a'), at = links.findIndex(link => link.closest('tr').contains(focused()));
  links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step]?.focus();
}

const row = () => focused().closest?.('.dk-table tbody tr');
const open = hash => { const link = one('th a', row()); if (link) location.href = link.href + hash; };

function choose(decision) {
  const button = one(`[name=decision][value=${decision}]`);
  button?.focus();
  button?.scrollIntoView({ block: 'nearest' });
  return button;
}

const inQueue = {
  j: () => move(1),
  k: () => move(-1),
  o: () => row() && open(''),
  x: () => row() && one('[name=_selected_action]', row())?.click(),
  a: () => row() && open('#granted'),
  d: () => row() && open('#denied'),
};
const onPage = {
  j: () => one('[data-go=j]')?.click(),
  k: () => one('[data-go=k]')?.click(),
  a: () => choose('granted'),
  d: () => choose('denied'),
  Escape: () => one('.dk-crumb')?.click(),
};

export function startKeys() {
  const page = one('[data-decide-page]'), keys = page ? onPage : one('.dk-queue') ? inQueue : {};
  const dialog = byId('keys');
  for (const line of all('[data-keys]')) line.hidden = !on();
  addEventListener('keydown', e => {
    const { key, target } = e;
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || document.querySelector('dialog[open], [popover]:popover-open:not(#nav)')) return;
    if (target.closest?.('input:not([type=checkbox]), textarea, select, [contenteditable]')) return;
    const search = byId('searchbar');
    if (key === '/' && search) search.focus();
    else if (key === '?' && dialog) dialog.showModal();
    else if (on() && Object.hasOwn(keys, key)) keys[key]();
    else return;
    e.preventDefault();
  });
  when('click', '[data-keys-open]', () => dialog.showModal());
  const box = one('[data-keys-on]');
  if (box) box.checked = on();
  when('change', '[data-keys-on]', () => {
    try { localStorage.setItem('beach-keys', box.checked ? 'on' : 'off'); } catch { /* for this page only */ }
    for (const line of all('[data-keys]')) line.hidden = !box.checked;
  });
  if (page && /^#(granted|denied)$/.test(location.hash)) choose(location.hash.slice(1));
}
