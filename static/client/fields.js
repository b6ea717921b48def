// Fields of surfaces. A focused field keeps its text; what the agent wrote meanwhile shows on blur, unless the person
// typed after it (D44). Edits are sent while typing, and always before anything that depends on them (D45).

import { all, byId, focused, make, one, when, within } from './dom.js';
import { send } from './port.js';

const DEBOUNCE = 200, NEVER = 1e9;   // ms
const typed = new Map();       // target -> {timer, id, value}: typed and not sent yet (timer), sent and not answered (id)
const withheld = new Map();    // target -> {value, seq}: what the agent wrote while the person was at it
let current = 0;                   // the one being applied

const hostOf = node => node.closest?.('[data-in]');
const controls = host => within([host], 'input:not([data-filter]), textarea, select');
const checkable = control => /checkbox|radio/.test(control.type);

function read(host) {
  const kind = host.dataset.in, [first] = controls(host);
  if (kind === 'check') return first.checked;
  if (kind === 'slider') return +first.value;
  return kind.startsWith('choice') ? all(':checked', host).map(option => option.value) : first.value;
}

// The property that holds what is shown, and the one that holds what the markup says.
const sides = piece => piece.localName === 'option' ? ['selected', 'defaultSelected'] : checkable(piece) ? ['checked', 'defaultChecked'] : ['value', 'defaultValue'];

// What a value consists of: elements with both.
const pieces = host => controls(host).flatMap(control => [...control.options ?? [control]]).map(piece => [piece, ...sides(piece)]);

function write(host, value) {
  for (const [element, shown] of pieces(host)) {
    element[shown] = shown === 'value' ? value : value === true || [].concat(value).includes(element.value);
  }
  saySlider(host);
}

// The server holds this value now: what the markup says has to say the same, or the next change would not be seen.
function mirror(host) {
  for (const [element, shown, marked] of pieces(host)) element[marked] = element[shown];
}

// A slider says its value while it is dragged.
function saySlider(host) {
  const output = host.dataset.in === 'slider' && one('output', host);
  if (output) output.textContent = controls(host)[0].value;
}

// What is being composed is not sent half-way, unless the field or the page is left: keyboards of phones compose each word.
function edit(host, { isComposing }) {
  const target = host.id, entry = typed.get(target) ?? {};
  clearTimeout(entry.timer);
  withheld.delete(target);
  explain(host);
  typed.set(target, entry);
  entry.timer = setTimeout(commit, isComposing ? NEVER : DEBOUNCE, target);
}

function commit(target) {
  const entry = typed.get(target), host = byId(target);
  if (!entry?.timer) return;
  clearTimeout(entry.timer);
  entry.timer = 0;
  if (!host) return typed.delete(target);
  entry.value = read(host);
  // What is obscured is not left lying about in the browser either: after a reload it is typed again.
  const keep = !within([host], '[type=password]').length;
  entry.id = send({ type: 'edit', target, value: entry.value }, { key: `edit ${target}`, keep });
}

// Everything typed so far is on its way before what follows.
export function flush() {
  for (const target of typed.keys()) commit(target);
}

// What the server has against a value, under the field.
function explain(host, message) {
  const id = `${host.id}-refused`, old = byId(id), [control] = controls(host);
  old?.remove();
  if (message) {
    host.append(make('p', { id, className: 'a2-error', role: 'alert', textContent: message }));
    control.setAttribute('aria-errormessage', id);
    control.ariaInvalid = true;
  } else if (old) {
    control.removeAttribute('aria-errormessage');
    control.ariaInvalid = null;
  }
}

// The field of an edit that has its answer.
function answered(id, target) {
  const entry = typed.get(target);
  if (entry?.id === id && !entry.timer) typed.delete(target);
  return byId(target);
}

export const edits = {
  // From before a reload: on its way again, or with what was against it, on a page that has the field.
  recalled({ message: { id, target, value }, why }) {
    const host = byId(target);
    if (!host) return;
    write(host, value);
    if (why) explain(host, why.message);
    else typed.set(target, { id, value });
  },
  acked({ id, seq }, { target, value }) {
    const host = answered(id, target), late = withheld.get(target);
    if (!host) return;
    if (JSON.stringify(read(host)) === JSON.stringify(value)) mirror(host);
    if (!late) return;
    if (!seq || late.seq <= seq) withheld.delete(target);      // the agent wrote before this edit, which won
    else if (!host.contains(focused())) catchUp(host);
  },
  refused({ id, message }, { target }) {
    const host = answered(id, target);
    if (host) explain(host, message);
    return host;
  },
};

// Nobody is at the field any more: what the agent wrote meanwhile shows.
function catchUp(host) {
  const late = withheld.get(host.id);
  if (!late || typed.has(host.id)) return;
  withheld.delete(host.id);
  write(host, late.value);
  mirror(host);
}

// The person is at this control, or what they typed there is not with the server yet.
function held(host, control) {
  const active = focused();
  return host && (control === active || control.parentNode === active || typed.has(host.id));
}

// Asked by htmx while it morphs (see apply.js). False: leave it alone.
globalThis.htmx?.registerExtension('panel', {
  htmx_before_morph_node(old, { newNode: fresh }) {
    const host = hostOf(old), [shown, marked] = sides(old), value = fresh[marked], changed = value !== old[marked];
    // Only a real change of the server's wins over a click; a click that is still on its way wins over both.
    const mine = checkable(old) ? typed.has(host?.id) : held(host, old);
    if (shown !== 'value') {
      if (!mine && changed) old[shown] = value;
    } else if (old.localName === 'textarea' && mine) {
      if (changed) withheld.set(host.id, { value, seq: current });
      for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
      return false;
    }
  },
  htmx_before_morph_attr(element, { attrName: name, newValue: value }) {
    // The browser's own state (D43).
    if (/^(hidden|aria-selected|tabindex)$/.test(name) && element.matches('[role=tab], [role=tabpanel]')) return false;
    if (name === 'tabindex' && element === focused()) return false;
    const host = name === 'value' && element.localName === 'input' && !checkable(element) && hostOf(element);
    if (!held(host, element)) return;
    if (value !== null) withheld.set(host.id, { value, seq: current });
    return false;
  },
});

export const applying = seq => { current = seq; };

// The filter of a list of choices is the browser's own.
const onField = (type, act) => when(type, '[data-in]', (host, e) => e.target.matches('[data-filter]') || act(host, e));
onField('input', (host, e) => {
  saySlider(host);
  edit(host, e);
});
onField('compositionend', edit);
// A tick or a choice is done with at once, typing when the field is left.
onField('change', host => commit(host.id));
onField('focusout', (host, e) => {
  commit(host.id);
  if (!host.contains(e.relatedTarget)) catchUp(host);
});
// Enter in a line of text commits it; in a form it presses the button as well, which looks at everything first.
onField('keydown', (host, e) => {
  if (e.key !== 'Enter' || e.isComposing || !e.target.matches('input')) return;
  e.preventDefault();
  commit(host.id);
  if (!checkable(e.target)) one('[data-act]', host.closest('.a2-form') ?? host)?.click();
});
addEventListener('pagehide', flush);
