// Operations of a frame on the page (D41): elements by id, directly; htmx only where a field may be in use (D39).

import { guard } from './fields.js';

const htmx = globalThis.htmx;
const byId = id => document.getElementById(id);

function parse(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content;
}

// Through htmx: the old nodes stay and take on what is new.
async function morph(html, id) {
  const root = document.body;
  const own = /^\s*<[^>]*\shx-swap-oob=/.test(html) || /^\s*<hx-partial/.test(html);
  id ??= own ? null : html.match(/^\s*<[^>]*?\sid="([\w-]+)"/)?.[1];
  const text = own ? html : `<hx-partial hx-target="#${id}" hx-swap="outerMorph">${html}</hx-partial>`;
  await htmx.swap({ text, swap: 'none', sourceElement: root, target: root });
}

// Inside `change`, focus that gets lost with its element goes to the nearest thing that is still there.
async function keepingFocus(element, change) {
  const active = document.activeElement;
  const inside = active !== document.body && element?.contains(active);
  await change(inside);
  if (!inside || (active.isConnected && document.activeElement === active)) return;
  const next = (active.id && byId(active.id)) || byId(element.id);
  if (!next) return;
  if (!next.matches('a, button, input, select, textarea, summary, [tabindex]')) next.tabIndex = -1;
  next.focus({ preventScroll: true });
}

const OPS = {
  async r(touched, id, html) {
    const element = byId(id);
    if (!element) return;
    await keepingFocus(element, async inside => {
      if (inside) await morph(html, id);
      else element.replaceWith(parse(html));
    });
    touched.add(id);
  },
  t(touched, id, text) {
    const element = byId(id);
    if (element && element.textContent !== text) element.textContent = text;
  },
  i(touched, ref, where, html) {
    const element = byId(ref);
    if (!element) return;
    const fragment = parse(html);
    for (const child of fragment.children) if (child.id) touched.add(child.id);
    if (where === 'beforebegin') element.before(fragment);
    else if (where === 'afterend') element.after(fragment);
    else if (where === 'afterbegin') element.prepend(fragment);
    else element.append(fragment);
  },
  m(touched, id, ref) {
    const element = byId(id);
    const into = ref.startsWith('^') ? byId(ref.slice(1)) : byId(ref)?.parentNode;
    if (!element || !into) return;
    const before = ref.startsWith('^') ? into.firstChild : byId(ref).nextSibling;
    if (before === element) return;
    // moveBefore keeps focus, typed text and open dialogs; insertBefore loses them.
    if (into.moveBefore) into.moveBefore(element, before);
    else into.insertBefore(element, before);
  },
  d(touched, id) {
    byId(id)?.remove();
  },
  async x(touched, html) {
    const id = html.match(/\sid="([\w-]+)"/)?.[1];
    await keepingFocus(id && byId(id), () => morph(html));
    if (id) touched.add(id);
  },
};

// Applies all of them in order; ids that are not there are ignored. Returns the elements that are new or redrawn.
export async function apply(ops) {
  const touched = new Set();
  for (const [name, ...rest] of ops) {
    const done = OPS[name]?.(touched, ...rest);
    if (done) await done;
  }
  return [...touched].map(byId).filter(Boolean);
}

htmx?.registerExtension('panel', {
  htmx_before_morph_node: (old, { newNode }) => guard.node(old, newNode),
  htmx_before_morph_attr: (element, { attrName, newValue }) => guard.attribute(element, attrName, newValue),
});
