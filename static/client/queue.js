// The queue while it stands open: what is new comes into its place, and what somebody else has decided is crossed out where
// it stands. Nothing moves under the pointer: while it is over the list, what is new waits behind a button.

import { all, byId, focused, one, parse, say, when } from './dom.js';
import { term } from './left.js';

let held = [];

const plural = (name, number) => term(number === 1 ? `${name}One` : name).replace('{}', number);
const chosen = () => all('tbody [name=_selected_action]:checked');

function select() {
  const rows = chosen(), boxes = all('tbody [name=_selected_action]'), every = one('[data-all]');
  for (const box of boxes) box.closest('tr').ariaSelected = box.checked ? 'true' : null;
  if (every) {
    every.checked = rows.length > 0 && rows.length === boxes.length;
    every.indeterminate = rows.length > 0 && !every.checked;
  }
  say(one('[data-chosen]'), plural('chosen', rows.length));
}

// Before the first row on the page that stands behind it in the server's order.
function insert(row, order, body) {
  const behind = order.slice(order.indexOf(row.id) + 1).map(byId).find(Boolean);
  if (behind) behind.before(row);
  else body.append(row);
}

function show(body) {
  for (const [row, order] of held.splice(0)) if (!byId(row.id)) insert(row, order, body);
  one('[data-new]').hidden = true;
  one('[data-none]').hidden = body.rows.length > 0;
  select();
}

// Decided elsewhere: crossed out, and no longer to be chosen. Its link keeps the focus.
function cross(old, row) {
  if (old.dataset.state) return;
  const had = old.contains(focused());
  old.replaceWith(row);
  if (had) one('a', row).focus({ preventScroll: true });
}

async function refresh(body) {
  const { rows } = body.dataset;
  const reply = await fetch(`${rows}&shown=${[...body.rows].map(row => row.dataset.pk)}`).catch(() => null);
  if (!reply?.ok || reply.redirected) return;
  // Rows of a table are parsed as such only inside of one.
  const found = all('tr', parse(`<table><tbody>${await reply.text()}</tbody></table>`)), order = found.map(row => row.id);
  for (const row of found) {
    const old = byId(row.id);
    if (!row.dataset.state) {
      if (!old) held = [...held.filter(([one]) => one.id !== row.id), [row, order]];
    } else if (old) cross(old, row);
  }
  held = held.filter(([row]) => order.includes(row.id));
  if (!body.matches(':hover')) return show(body);
  const notice = one('[data-new]');
  notice.hidden = !held.length;
  say(one('button', notice), plural('fresh', held.length));
  select();
}

export function startQueue() {
  const body = one('[data-rows]');
  when('change', '.dk-queue input', box => {
    if ('all' in box.dataset) for (const other of all('tbody [name=_selected_action]')) other.checked = box.checked;
    select();
  });
  if (one('.dk-queue')) select();
  if (!body) return;
  addEventListener('pulse', () => refresh(body));
  body.addEventListener('pointerleave', () => show(body));
  when('click', '[data-new] button', () => show(body));
}
