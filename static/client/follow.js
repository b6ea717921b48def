// The page of one approval while it stands open: it follows what becomes of the question, whoever decides it and wherever,
// and then says it too. What somebody is typing, what they have opened and where they are stays.

import { all, byId, focus, focused, make, one, parse, say, when } from './dom.js';
import { term } from './left.js';
import { OFTEN, SELDOM } from './pulse.js';
import { showSeen } from './seen.js';

const TOLD = '.b-approval__state, .b-votes__sum, .b-approval__result, .b-approval__said';
let facts, next, stopped;

const words = () => all(TOLD, one('.b-approval')).map(text => text.innerText.trim()).filter(Boolean).join('. ');
const field = (name, root) => one(`.b-approval [name=${name}]`, root);

// The same thing in what has taken the place of a part of the page.
function again(element, fresh) {
  const { id, name, value } = element;
  return id ? byId(id) : name && one(`[name=${name}][value="${value}"]`, fresh);
}

function carry(old, fresh) {
  fresh.hidden = old.hidden;
  const folds = all('details', old);
  all('details', fresh).forEach((fold, at) => { if (folds[at]?.className === fold.className) fold.open = folds[at].open; });
  if (old.matches('details')) fresh.open = old.open;
  const unsent = one('[data-unsent]', old);
  if (unsent) fresh.append(unsent.cloneNode(true));
}

function replace(old, fresh) {
  carry(old, fresh);
  if (old.isEqualNode(fresh)) return;
  const active = old.contains(focused()) && focused(), { selectionStart, selectionEnd } = active || {};
  const typed = field('reason', old)?.value, box = field('reason', fresh);
  if (box && typed) box.value = typed;
  old.replaceWith(fresh);
  // What was written for a decision that somebody else has made goes to nobody, and stays with who wrote it.
  if (typed && !box) {
    const unsent = make('p', { className: 'dk-hint', dir: 'auto', textContent: term('unsent').replace('{}', () => typed) });
    unsent.dataset.unsent = '';
    fresh.append(unsent);
  }
  if (!active) return;
  const there = again(active, fresh) ?? one('.b-approval', fresh);
  if (there) focus(there);
  if (there === box) box?.setSelectionRange(selectionStart, selectionEnd);
}

// Somebody has edited the call. The buttons must not come to mean another one under the reader's hand: they are off until the
// reader asks for the new one.
function keepFromDeciding(card) {
  if (one('[data-anew]', card)) return;
  // A disabled button lets go of focus.
  if (focused().matches('[name=decision]')) focus(card);
  for (const button of all('[name=decision]', card)) button.disabled = true;
  const notice = make('p', { className: 'dk-changed', role: 'alert', textContent: `${term('edited')} ` });
  notice.append(make('button', { type: 'button', className: 'a2-btn a2-btn--s', textContent: term('showEdited') }));
  notice.lastChild.dataset.anew = '';
  one('.b-approval__dock', card).prepend(notice);
}

function redraw(found) {
  const before = words();
  for (const old of all('[data-part]')) {
    const fresh = one(`[data-part=${old.dataset.part}]`, found);
    if (fresh) replace(old, fresh);
  }
  const after = words();
  if (after !== before) say(one('[data-told]'), after);
}

// ``reads``: the question that is in front of the reader; another one is not given to a page that says so.
async function renew(reads = '', version = facts.version) {
  const reply = await fetch(`${facts.follow}page&reads=${reads}`, { redirect: 'manual' });
  if (reply.status === 204) {
    facts.version = version;
    return keepFromDeciding(one('.b-approval'));
  }
  const found = reply.ok && parse(await reply.text());
  if (!found || stopped) return;
  facts.version = one('#panel', found).dataset.version;
  redraw(found);
}

async function look() {
  clearTimeout(next);
  if (stopped) return;
  let wait = 'soon';
  try {
    const reply = await fetch(`${facts.follow}stand`, { redirect: 'manual' });
    // Without the right to see it since: asking again would change nothing.
    stopped ||= reply.status === 403 || reply.status === 404;
    if (reply.ok) {
      const { version, rows, again } = await reply.json();
      if (version !== facts.version) await renew(field('asked_as')?.value, version);
      if (String(rows) !== facts.seq && await showSeen()) facts.seq = rows;
      wait = again;
      stopped ||= again === 'never' && version === facts.version && String(rows) === facts.seq;
    }
  } catch { /* asked again */ }
  if (!stopped) next = setTimeout(look, document.hidden || wait !== 'soon' ? SELDOM : OFTEN);
}

export function startFollowing() {
  facts = one('[data-follow]')?.dataset;
  if (!facts) return;
  next = setTimeout(look, OFTEN);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) look(); });
  // Their own decision is on its way, and brings another page.
  when('submit', '.b-approval form', () => { stopped = true; });
  addEventListener('pageshow', e => { if (e.persisted) { stopped = false; look(); } });
  when('click', '[data-anew]', async () => {
    // What fails can be asked for again.
    await renew().catch(() => {});
    focus(one('.b-approval'));
    one('.b-approval').scrollIntoView({ block: 'nearest' });
  });
}
