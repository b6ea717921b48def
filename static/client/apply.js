// Operations of a frame on the page (D41): elements by id, directly; htmx only where a field may be in use (D39). What a
// person reads stays where it is, and what they have selected stays selected.

import { byId, focus } from './dom.js';

const BAR = 64;                // px from the top that a bar may cover
const PLACES = { beforebegin: 'before', afterbegin: 'prepend', beforeend: 'append', afterend: 'after' };
let fresh;                     // elements that are new or redrawn

function parse(markup) {
  const { content } = Object.assign(document.createElement('template'), { innerHTML: markup });
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
  r(id, markup) {
    const element = byId(id);
    if (!element) return;
    if (element.contains(document.activeElement)) return OPS.x(`<hx-partial hx-target="#${id}" hx-swap="outerMorph">${markup}</hx-partial>`);
    element.outerHTML = markup;
    fresh.add(byId(id));
  },
  t(id, text) {
    const element = byId(id);
    if (element && element.textContent !== text) element.textContent = text;
  },
  i(ref, where, markup) {
    byId(ref)?.[PLACES[where]](parse(markup));
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

// -- what is selected ------------------------------------------------------------------------------------------------

// Streamed text whose part has come. One paragraph of the same words is that part already: the bubble stays.
function become(bubble, part) {
  const [words, more] = part.children, [text] = bubble.children;
  if (more || words?.localName !== 'p' || words.children.length || words.textContent !== text.textContent) return part;
  text.lastChild.remove();
  bubble.removeAttribute('aria-busy');
  for (const { name, value } of part.attributes) bubble.setAttribute(name, value);
  part.replaceWith(bubble);
  fresh.add(bubble);
  return bubble;
}

// Where an end of the selection is when `node` may have been drawn again: after the same words of the nearest element
// with an id, or of the part that it became. Marks and blanks may have gone.
function place(node, offset) {
  const home = node.parentElement?.closest('[id]') ?? node, range = new Range();
  range.setStart(home, 0);
  range.setEnd(node, offset);
  const before = `${range}`;
  return parts => {
    if (node.isConnected) return [node, offset];
    const texts = document.createTreeWalker(parts.get(home) ?? byId(home.id) ?? home, NodeFilter.SHOW_TEXT);
    let from = 0, at = 0;
    while (texts.nextNode()) {
      at = 0;
      for (const character of texts.currentNode.data) {
        if (character.trim() && !(from = before.indexOf(character, from) + 1)) return [texts.currentNode, at];
        at += character.length;
      }
    }
    return [texts.currentNode, at];
  };
}

function selected() {
  const selection = getSelection(), { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  if (selection.isCollapsed) return () => {};
  const places = [place(anchorNode, anchorOffset), place(focusNode, focusOffset)];
  return parts => selection.setBaseAndExtent(...places.flatMap(find => find(parts)));
}

// -- what is in sight ------------------------------------------------------------------------------------------------

// What begins in the window, from the top down; of what began above it, what is in it first.
function* within(element) {
  for (const child of element.children) {
    const { top, bottom } = child.getBoundingClientRect(), drawn = child.getClientRects().length;
    if (top > innerHeight) return;
    if (drawn && bottom < BAR || child.matches('dialog, [popover]')) continue;
    if (!drawn || top < BAR) yield* within(child);
    if (drawn) yield [child, top];
  }
}

// Browsers do it too, but lose their hold with the element that they hold on to, and not all have learnt it.
function hold() {
  const main = byId('thread'), { style } = document.documentElement, seen = main && scrollY ? [...within(main)] : [];
  style.overflowAnchor = 'none';
  return () => {
    for (const [element, top] of seen) {
      const now = element.isConnected ? element : byId(element.id);
      if (!now) continue;
      scrollBy({ top: now.getBoundingClientRect().top - top, behavior: 'instant' });
      break;
    }
    requestAnimationFrame(() => requestAnimationFrame(() => { style.overflowAnchor = ''; }));
  };
}

// Applies all of them in order; ids that are not there are ignored. Returns the elements that are new or redrawn.
export async function apply(ops) {
  const found = fresh = new Set(), parts = new Map(), holds = hold(), reselect = selected();
  let bubble;
  for (const [name, id, ...rest] of ops) {
    const gone = name === 'd' && byId(id), done = OPS[name]?.(id, ...rest);
    if (done) await done;
    // The text of a bubble comes as a part right after it is taken away.
    if (bubble && name === 'i') parts.set(bubble, become(bubble, [...found].at(-1)));
    bubble = gone && gone.matches('.b-live__text') && gone;
  }
  reselect(parts);
  holds();
  return [...found].filter(element => element?.isConnected);
}
