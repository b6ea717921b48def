// The page of one conversation: looks back without loading the page anew, follows what is said, and keeps what is written
// until the server has it (R12). Without this module every link and form does the same by itself.

import { all, byId, focused, make, one, parse, randomId, say, store, stored, when } from './dom.js';

const root = byId('talk'), { url, stream, me, failed, out, away } = root.dataset, moment = byId('moment');
const time = () => one('.dk-time', moment), thumb = () => one('input[type="range"]', moment);
const pause = ms => new Promise(done => setTimeout(done, ms));

let last = +root.dataset.last;           // the last row that there is
let asked = null, going = false;         // the row to be shown next; whether one is on its way
let stale = false;                       // whether what stands around the conversation may be another now

// -- looking back ----------------------------------------------------------------------------------------------------

const isLive = () => +time().dataset.at >= last;

// One at a time, and of those that were wanted meanwhile the newest: a thumb that is dragged asks for many.
async function show(at) {
  asked = at;
  if (going) return;
  going = true;
  while (asked !== null) {
    const now = asked;
    asked = null;
    const live = now >= last, place = new URL(url, location.href);
    if (!live) place.searchParams.set('at', now);
    const address = place.href;
    place.searchParams.set('part', '');
    const answer = await fetch(place).catch(() => null), markup = await answer?.text().catch(() => null);
    if (!answer || markup === null) {
      // The server is away: what was asked for last is shown when it is back.
      lost(away);
      await pause(1500);
      asked ??= now;
    } else if (!answer.ok || answer.redirected) {
      // Signed out, or without the right: the address says which.
      if (!live) location.href = address;
      else lost(out);
    } else if (asked === null) await draw(markup, live, address);
  }
  going = false;
}

function lost(words) {
  const line = one('[data-lost]', moment) ?? make('p', { className: 'dk-hint dk-time__far', role: 'status' });
  line.dataset.lost = '';
  say(line, words);
  time().after(line);
}

// What was open stays open, and whatever has the focus keeps it. The thumb stays the element that it is: a drag would end
// with another one.
async function draw(markup, live, address) {
  const fresh = parse(markup), form = one('.dk-time', fresh), old = time(), care = old.dataset.care, low = atEnd();
  const held = moment.contains(focused()) ? trace(focused()) : null;
  const open = all('.dk-fold[open]', moment).map(trace);
  last = Math.max(last, +form.dataset.last);
  adopt(old, form);
  for (const part of ['[rel="prev"]', '[rel="next"]', 'output', '.dk-time__rail svg']) {
    const was = one(part, old), now = one(part, form);
    adopt(was, now);
    if (!part.startsWith('[')) was.replaceChildren(...now.childNodes);
  }
  const range = thumb(), now = one('input[type="range"]', form);
  range.max = last;
  range.ariaValueText = now.ariaValueText;
  if (asked === null && !range.matches(':active')) range.value = now.value;
  form.remove();
  while (old.nextSibling) old.nextSibling.remove();
  old.after(fresh);
  for (const fold of all('.dk-fold', moment)) fold.open = open.includes(trace(fold));
  if (held !== null && !moment.contains(focused())) {
    const again = all('.dk-fold > summary, .b-earlier a', moment).find(element => trace(element) === held);
    (again ?? range).focus({ preventScroll: true });
  }
  history.replaceState(null, '', address);
  if (live && (stale || care !== old.dataset.care)) await renew();
  if (live && low) toEnd();
  if (one('[data-again]', moment)) asked ??= +range.value;
}

// The attributes of one element, as another has them; what stands in it stays.
function adopt(element, other) {
  for (const name of element.getAttributeNames()) if (!other.hasAttribute(name)) element.removeAttribute(name);
  for (const name of other.getAttributeNames()) element.setAttribute(name, other.getAttribute(name));
}

// By what an element of the moment is known in the next one: a fold by its first row.
function trace(element) {
  const fold = element.closest('.dk-fold');
  return fold ? one('li span', fold).textContent : element.parentNode.className;
}

const end = () => one('.dk-panel--tall').getBoundingClientRect().bottom;
const atEnd = () => end() <= innerHeight + 80;
const toEnd = () => scrollBy(0, end() - innerHeight + 8);

when('input', '.dk-time input[type="range"]', input => show(+input.value));
when('submit', '.dk-time', (form, event) => {
  event.preventDefault();
  show(+form.elements.at.value);
});
when('click', '.dk-time__step a, .b-earlier a', (link, event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const at = link.href && new URL(link.href).searchParams.get('at');
  if (at) show(+at);
});

// -- what stands around it -------------------------------------------------------------------------------------------

// Who looks after it, who writes, the facts and the notes, as they are now. A box in which somebody writes stays.
async function renew() {
  const answer = await fetch(url).catch(() => null);
  if (!answer?.ok || answer.redirected) return;
  const page = parse(await answer.text()), had = focused();
  stale = false;
  for (const id of ['claimed', 'care', 'facts', 'notes']) swap(byId(id), one(`#${id}`, page));
  const both = byId('say') && one('#say', page);
  swap(byId(both ? 'writes' : 'writing'), one(both ? '#writes' : '#writing', page));
  one('.dk-panel--tall').ariaLabel = one('.dk-panel--tall', page).ariaLabel;
  for (const form of all('form[data-keep]')) keep(form);
  left();
  if (had.isConnected) return;
  // What it was pressed with is another button now, at the same place.
  const again = had.id && byId(had.id) || one('summary, button, textarea', byId('writing'));
  (again ?? thumb()).focus({ preventScroll: true });
}

function swap(old, fresh) {
  const open = one('details[open]', old);
  old.replaceWith(fresh);
  const again = open && one('details', fresh);
  if (again) again.open = true;
}

// -- following -------------------------------------------------------------------------------------------------------

let due, source, wait = 2000;

// Only while somebody looks: a browser has few connections to one server, and each of these holds one.
function follow() {
  source = new EventSource(stream);
  source.addEventListener('shown', event => {
    wait = 2000;
    const live = isLive();
    last = Math.max(last, +event.lastEventId);
    thumb().max = last;
    // Whether an agent is at the end of its answer stands around the conversation.
    stale ||= Boolean(one('[data-running]'));
    if (!live) return;
    time().dataset.at = last;
    clearTimeout(due);
    due = setTimeout(show, 120, Infinity);
  });
  // A browser comes back by itself where the line was cut, and not where it was refused.
  source.onerror = () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    unfollow();
    setTimeout(() => document.hidden || source || follow(), wait = Math.min(wait * 2, 60000));
  };
}

function unfollow() {
  source?.close();
  source = null;
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) return unfollow();
  if (!source) follow();
  stale = true;
  if (isLive()) show(Infinity);
});

// -- writing ---------------------------------------------------------------------------------------------------------

// By person too: whoever signs in after another one in this tab finds nothing of theirs.
const shelf = name => `beach:desk:${me}:${url}:${name}`;

// A key goes with its words: sent again after a reload, they are written once, and other words are never taken for them.
function put(form) {
  const { text, key } = form.elements;
  store(shelf(form.dataset.keep), { text: text.value, key: key.value, sent: form.dataset.sent ?? null });
}

function keep(form) {
  if (form.dataset.kept) return;
  form.dataset.kept = 'yes';
  const { text, key } = form.elements, kept = stored(shelf(form.dataset.keep));
  if (kept?.text && !text.value) {
    text.value = kept.text;
    key.value = kept.key;
    if (kept.sent !== null) form.dataset.sent = kept.sent;
  }
  text.addEventListener('input', () => {
    if ('sent' in form.dataset && form.dataset.sent !== text.value) {
      key.value = randomId();
      delete form.dataset.sent;
    }
    put(form);
  });
  form.addEventListener('submit', event => {
    event.preventDefault();
    send(form, event.submitter);
  });
}

// What was being written when the conversation went to somebody else: it stands where the box was, until it is let go.
function left(words) {
  const place = byId('left'), text = stored(shelf('say'))?.text;
  if (!place) return;
  if (text) one('textarea', place).value = text;
  if (words) say(one('p', place), words);
  place.hidden = !one('textarea', place).value;
}

when('click', '#left button', button => {
  store(shelf('say'), null);
  one('textarea', byId('left')).value = '';
  byId('left').hidden = true;
  one('summary, button', button.closest('#writing').lastElementChild)?.focus({ preventScroll: true });
});

when('keydown', '#say', (box, event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  box.form.requestSubmit();
});

async function send(form, button) {
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  const body = new FormData(form), { text: box, key } = form.elements, text = box.value;
  if (button?.name) body.set(button.name, button.value);
  form.dataset.sent = text;
  put(form);
  tell(form, '');
  const answer = await fetch(form.action, { method: 'POST', body, headers: { Accept: 'application/json' } }).catch(() => null);
  const told = await answer?.json().catch(() => null);
  form.ariaBusy = 'false';
  if (answer?.ok && told && !answer.redirected) {
    key.value = randomId();
    delete form.dataset.sent;
    // What was typed meanwhile is the next one.
    box.value = box.value.startsWith(text) ? box.value.slice(text.length) : box.value;
    put(form);
    if (form.dataset.keep === 'note') await renew();
    else show(Infinity);
  } else {
    const words = answer?.redirected ? out : told?.message ? `${told.message} ${failed}` : failed;
    tell(form, words);
    if (answer?.status === 409) await renew();
    left(words);
  }
  if (form.isConnected) box.focus();
}

function tell(form, words) {
  one('.dk-refused', form)?.remove();
  if (words) form.prepend(make('p', { className: 'dk-refused', role: 'alert', textContent: words }));
}

// ---------------------------------------------------------------------------------------------------------------------

for (const form of all('form[data-keep]')) keep(form);
left();
if (byId('say')) toEnd();
if (!document.hidden) follow();
