// Operations of a frame on the page (D41): elements by id, directly; htmx only where a field may be in use (D39).

import { byId, focus } from './dom.js';

const PLACES = { beforebegin: 'before', afterbegin: 'prepend', beforeend: 'append', afterend: 'after' };
let fresh;                     // elements that are new or redrawn

function parse(html) {
  const { content } = Object.assign(document.createElement('template'), { innerHTML: html });
  for (const element of content.children) fresh.add(element);
  return content;
}

// Focus that gets lost with its element goes to the nearest thing that is still there.
async function keepingFocus(id, change) {
  const active = document.activeElement, inside = byId(id)?.contains(active);
  await change();
  if (!inside || document.activeElement === active) return;
  const next = byId(active.id) ?? byId(id);
  if (next) focus(next);
}

const OPS = {
  r(id, html) {
    const element = byId(id);
    if (!element) return;
    if (element.contains(document.activeElement)) return OPS.x(`<hx-partial hx-target="#${id}" hx-swap="outerMorph">${html}</hx-partial>`);
    element.outerHTML = html;
    fresh.add(byId(id));
  },
  t(id, text) {
    const element = byId(id);
    if (element && element.textContent !== text) element.textContent = text;
  },
  i(ref, where, html) {
    byId(ref)?.[PLACES[where]](parse(html));
  },
  m(id, ref) {
    const first = ref[0] === '^', anchor = byId(first ? ref.slice(1) : ref), element = byId(id);
    if (!element || !anchor) return;
    const into = first ? anchor : anchor.parentNode, before = first ? anchor.firstChild : anchor.nextSibling;
    if (before === element) return;
    // moveBefore keeps focus, typed text, scroll positions and open dialogs; insertBefore loses focus, which is given back.
    if (into.moveBefore) into.moveBefore(element, before);
    else return keepingFocus(id, () => into.insertBefore(element, before));
  },
  d(id) {
    byId(id)?.remove();
  },
  // Through htmx: the old nodes stay and take on what is new.
  async x(text) {
    const id = text.match(/"#([\w-]+)"/)[1], root = document.body;
    await keepingFocus(id, () => htmx.swap({ text, swap: 'none', sourceElement: root, target: root }));
    fresh.add(byId(id));
  },
};

// Applies all of them in order; ids that are not there are ignored. Returns the elements that are new or redrawn.
export async function apply(ops) {
  const found = fresh = new Set();
  for (const [name, ...rest] of ops) {
    const done = OPS[name]?.(...rest);
    if (done) await done;
  }
  return [...found].filter(element => element?.isConnected);
}
