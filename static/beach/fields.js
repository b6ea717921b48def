// Fields of surfaces. A focused field keeps its text; what the agent wrote meanwhile shows on blur, unless the person
// typed after it (D44). Edits are sent while typing, and always before anything that depends on them (D45).

const WAIT = 200;
const LATER = new Set(['text', 'number', 'slider']);
const TYPED = 'input:not([type=checkbox], [type=radio], [type=button]), textarea, select';

const edits = new Map();       // target -> {timer, id, value}: typed and not sent yet (timer), sent and not answered (id)
const withheld = new Map();    // target -> {value, seq}: what the agent wrote while the person was at it
let send = () => '';
let composing = false;
let frame = 0;                 // the row being applied
let strings = {};

const hostOf = node => node.closest?.('[data-in]');
const controls = host => host.matches(TYPED) ? [host] : [...host.querySelectorAll('input:not([data-filter]), textarea, select')];

export function read(host) {
  const all = controls(host);
  switch (host.dataset.in) {
    case 'check': return all[0].checked;
    case 'slider': return Number(all[0].value);
    case 'choice': case 'choices':
      return all.flatMap(c => c.localName === 'select' ? [...c.selectedOptions].map(o => o.value) : c.checked ? [c.value] : []);
    default: return all[0].value;
  }
}

export function write(host, value) {
  for (const control of controls(host)) {
    if (control.type === 'checkbox' && host.dataset.in === 'check') control.checked = Boolean(value);
    else if (/^(checkbox|radio)$/.test(control.type)) control.checked = [].concat(value).includes(control.value);
    else if (control.localName === 'select') for (const o of control.options) o.selected = [].concat(value).includes(o.value);
    else if (control.value !== String(value)) control.value = value;
  }
  shown(host);
}

// The server holds this value now: what the markup says has to say the same, or the next change would not be seen.
function mirror(host) {
  for (const control of controls(host)) {
    if (/^(checkbox|radio)$/.test(control.type)) control.defaultChecked = control.checked;
    else if (control.localName === 'select') for (const o of control.options) o.defaultSelected = o.selected;
    else if (control.localName === 'textarea') control.defaultValue = control.value;
    else control.setAttribute('value', control.value);
  }
}

// A slider says its value while it is dragged.
function shown(host) {
  const output = host.dataset.in === 'slider' && host.querySelector('output');
  if (output) output.textContent = controls(host)[0].value;
}

function edit(host, now) {
  const target = host.id;
  const entry = edits.get(target) ?? {};
  clearTimeout(entry.timer);
  withheld.delete(target);
  explain(host, '');
  edits.set(target, entry);
  entry.timer = setTimeout(() => submit(target), now ? 0 : WAIT);
  if (now) submit(target);
}

function submit(target) {
  const entry = edits.get(target), host = document.getElementById(target);
  if (!entry?.timer) return;
  clearTimeout(entry.timer);
  entry.timer = 0;
  if (!host) return edits.delete(target);
  entry.value = read(host);
  // What is obscured is not left lying about in the browser either: after a reload it is typed again.
  const keep = !controls(host).some(control => control.type === 'password');
  entry.id = send({ type: 'edit', target, value: entry.value }, { key: `edit ${target}`, keep });
}

// Everything typed so far is on its way before what follows.
export function flush() {
  for (const target of edits.keys()) submit(target);
}

function explain(host, message) {
  const id = `${host.id}-refused`;
  document.getElementById(id)?.remove();
  const control = controls(host)[0];
  if (!message) {
    if (control?.getAttribute('aria-errormessage') === id) {
      control.removeAttribute('aria-errormessage');
      control.removeAttribute('aria-invalid');
    }
    return;
  }
  const note = document.createElement('p');
  note.id = id;
  note.className = 'a2-error';
  note.setAttribute('role', 'alert');
  note.textContent = message;
  host.append(note);
  control?.setAttribute('aria-invalid', 'true');
  control?.setAttribute('aria-errormessage', id);
}

export function acked({ id, seq }, { target, value }) {
  const host = document.getElementById(target), entry = edits.get(target);
  if (entry?.id === id && !entry.timer) edits.delete(target);
  if (!host) return;
  if (JSON.stringify(read(host)) === JSON.stringify(value)) mirror(host);
  const late = withheld.get(target);
  if (!late) return;
  if (!seq || late.seq <= seq) withheld.delete(target);      // the agent wrote before this edit, which won
  else if (!edits.has(target) && !host.contains(document.activeElement)) {
    withheld.delete(target);
    take(host, late.value);
  }
}

export function refused({ id, message }, { target }) {
  const host = document.getElementById(target), entry = edits.get(target);
  if (entry?.id === id && !entry.timer) edits.delete(target);
  if (host) explain(host, message || strings.refused || '');
}

function take(host, value) {
  write(host, value);
  mirror(host);
}

// Asked by htmx while it morphs (see apply.js). False: leave it alone.
export const guard = {
  node(old, fresh) {
    const host = hostOf(old);
    const mine = host && held(host, old);
    if (/^(checkbox|radio)$/.test(old.type ?? '')) {
      // Only a real change of the server's wins over a click; a click that is still on its way wins over both.
      if (!edits.has(host?.id) && old.defaultChecked !== fresh.defaultChecked) old.checked = fresh.defaultChecked;
    } else if (old.localName === 'option') {
      if (!mine && old.defaultSelected !== fresh.defaultSelected) old.selected = fresh.defaultSelected;
    } else if (old.localName === 'textarea' && mine) {
      if (fresh.defaultValue !== old.defaultValue) withheld.set(host.id, { value: fresh.defaultValue, seq: frame });
      for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
      return false;
    }
  },
  attribute(element, name, value) {
    // The browser's own state (D43).
    if (/^(hidden|aria-selected|tabindex)$/.test(name) && element.matches('[role=tab], [role=tabpanel]')) return false;
    if (name === 'tabindex' && element === document.activeElement) return false;
    if (name !== 'value' || !element.matches(TYPED)) return;
    const host = hostOf(element);
    if (host && held(host, element)) {
      if (value !== null) withheld.set(host.id, { value, seq: frame });
      return false;
    }
  },
};

// The person is at this control, or what they typed there is not with the server yet.
const held = (host, control) => control === document.activeElement || control.parentNode === document.activeElement || edits.has(host.id);

export const applying = seq => { frame = seq; };

export function start(root, options) {
  send = options.send;
  strings = options.strings ?? {};
  root.addEventListener('compositionstart', () => { composing = true; });
  root.addEventListener('compositionend', e => {
    composing = false;
    const host = hostOf(e.target);
    if (host) edit(host);
  });
  root.addEventListener('input', e => {
    const host = hostOf(e.target);
    if (!host || e.target.matches('[data-filter]') || !LATER.has(host.dataset.in)) return;
    shown(host);
    if (!composing) edit(host);
  });
  root.addEventListener('change', e => {
    const host = hostOf(e.target);
    if (!host || e.target.matches('[data-filter]')) return;
    if (LATER.has(host.dataset.in)) submit(host.id); else edit(host, true);
  });
  root.addEventListener('focusout', e => {
    const host = hostOf(e.target);
    if (!host) return;
    submit(host.id);
    const late = withheld.get(host.id);
    if (!late || host.contains(e.relatedTarget) || edits.has(host.id)) return;
    withheld.delete(host.id);
    take(host, late.value);
  });
  // A field in a surface is not a form: Enter commits it and submits nothing.
  root.addEventListener('keydown', e => {
    if (e.key !== 'Enter' || e.isComposing || !e.target.matches('input')) return;
    const host = hostOf(e.target);
    if (host) { e.preventDefault(); submit(host.id); }
  });
  addEventListener('pagehide', flush);
}

// Edits from before a reload: shown again, since they are being sent again.
export function recall(messages) {
  for (const { id, type, target, value } of messages) {
    const host = type === 'edit' && document.getElementById(target);
    if (!host) continue;
    write(host, value);
    edits.set(target, { id, value, timer: 0 });
  }
}
