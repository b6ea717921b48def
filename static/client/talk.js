// The page of one conversation: looks back without loading the page anew, follows what is said, and keeps what is written
// until the server has it (R12). Without this module every link and form does the same by itself.

import { all, byId, one, store, stored, when } from './dom.js';

const root = byId('talk'), { url, stream, failed } = root.dataset, moment = byId('moment');
const time = () => one('.dk-time', moment);

let last = +root.dataset.last;           // the last row that there is
let asked = null, going = false;         // the row to be shown next; whether one is on its way

// -- looking back ----------------------------------------------------------------------------------------------------

// One at a time, and of those that were wanted meanwhile the newest: a thumb that is dragged asks for many.
async function show(at) {
  asked = at;
  if (going) return;
  going = true;
  while (asked !== null) {
    const now = asked;
    asked = null;
    const place = new URL(url, location.href), live = now >= last;
    place.searchParams.set('part', '');
    if (!live) place.searchParams.set('at', now);
    if (one('[name="runtime"]', moment).checked) place.searchParams.set('runtime', 1);
    try {
      const answer = await fetch(place, { headers: { Accept: 'text/html' } });
      if (!answer.ok) throw new Error(answer.status);
      if (asked === null) draw(await answer.text(), live);
    } catch {
      // The address still works, and says what is wrong.
      if (!live) location.href = `${url}?at=${now}`;
    }
  }
  going = false;
}

// What was open stays open, and the slider keeps the focus.
function draw(markup, live) {
  const within = document.activeElement?.name ?? document.activeElement?.rel, care = time().dataset.care;
  const open = new Set(all('.dk-fold[open]', moment).map(fold => one('li span', fold)?.textContent));
  const low = atEnd();
  moment.innerHTML = markup;
  for (const fold of all('.dk-fold', moment)) fold.open = open.has(one('li span', fold)?.textContent);
  last = Math.max(last, +time().dataset.last);
  one('input[type="range"]', moment).max = last;
  if (within && moment.contains(one(`[name="${within}"], [rel="${within}"]`, moment))) {
    one(`[name="${within}"], [rel="${within}"]`, moment).focus({ preventScroll: true });
  }
  history.replaceState(null, '', live ? url : `${url}?at=${time().dataset.at}`);
  // Somebody else has taken it over, or handed it back: what can be done here is another thing now.
  if (live && care !== time().dataset.care && !byId('say')?.value) location.reload();
  if (live && low) scrollTo(0, document.documentElement.scrollHeight);
  if (one('[data-again]', moment)) show(+one('input[type="range"]', moment).value);
}

const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 80;

when('input', '.dk-time input[type="range"]', input => show(+input.value));
when('submit', '.dk-time', (form, event) => {
  event.preventDefault();
  show(+form.elements.at.value);
});
when('click', '.dk-time__step a, .b-earlier a', (link, event) => {
  const at = link.href && new URL(link.href).searchParams.get('at');
  if (!at || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(+at);
});

// -- following -------------------------------------------------------------------------------------------------------

let due;

function follow() {
  const live = +time().dataset.at >= last;
  clearTimeout(due);
  due = setTimeout(() => live ? show(Infinity) : null, 120);
}

// A browser comes back by itself, after the row that it had.
const source = new EventSource(stream);
for (const name of ['messageReceived', 'turnStateChanged', 'partReceived', 'takeover', 'settled']) {
  source.addEventListener(name, event => {
    const live = +time().dataset.at >= last;
    last = Math.max(last, +event.lastEventId);
    one('input[type="range"]', moment).max = last;
    if (live) time().dataset.at = last;
    follow();
  });
}

// -- writing ---------------------------------------------------------------------------------------------------------

const shelf = form => `beach:desk:${url}:${form.dataset.keep}`;

for (const form of all('form[data-keep]')) {
  const box = form.elements.text, kept = stored(shelf(form));
  // A key goes with its words: sent again after a reload, they are written once.
  if (kept?.text && !box.value) {
    box.value = kept.text;
    form.elements.key.value = kept.key;
  }
  box.addEventListener('input', () => store(shelf(form), { text: box.value, key: form.elements.key.value }));
  form.addEventListener('submit', event => {
    event.preventDefault();
    send(form, event.submitter);
  });
}

when('keydown', '#say', (box, event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  box.form.requestSubmit();
});

async function send(form, button) {
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  const body = new FormData(form), box = form.elements.text, text = box.value;
  if (button?.name) body.set(button.name, button.value);
  tell(form, '');
  try {
    const answer = await fetch(form.action, { method: 'POST', body, headers: { Accept: 'application/json' } });
    if (!answer.ok) throw await answer.json().catch(() => ({}));
    form.elements.key.value = crypto.randomUUID();
    // What was typed meanwhile is the next one.
    box.value = box.value === text ? '' : box.value.slice(text.length);
    store(shelf(form), { text: box.value, key: form.elements.key.value });
    if (form.dataset.keep === 'note') location.reload();
    else show(Infinity);
  } catch (problem) {
    tell(form, problem.message && !(problem instanceof TypeError) ? `${problem.message} ${failed}` : failed);
  } finally {
    form.ariaBusy = 'false';
    box.focus();
  }
}

function tell(form, words) {
  one('.dk-refused', form)?.remove();
  if (!words) return;
  const said = document.createElement('p');
  said.className = 'dk-refused';
  said.role = 'alert';
  said.textContent = words;
  form.prepend(said);
}

if (byId('say')) scrollTo(0, document.documentElement.scrollHeight);
