// Operations of a frame on the page (D41): elements by id, directly; htmx only where a field may be in use (D39). What a
// person reads stays where it is, and what they have selected in text that streams stays selected when it ends.

import { byId, focus, html, make, one, say, top } from './dom.js';

const BAR = 64;                // px from the top that a bar may cover
let fresh;                     // elements that are new or redrawn

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
    say(byId(id), text);
  },
  i(ref, where, markup) {
    const roots = [...make('template', { innerHTML: markup }).content.children];
    // Right after something, the last one goes first.
    for (const element of where[0] === 'a' ? roots.reverse() : roots) {
      byId(ref)?.insertAdjacentElement(where, element);
      fresh.add(element);
    }
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

// Streamed text whose part has come: where the words are the same, they are not drawn again.
function become(bubble, part) {
  const words = bubble.firstChild?.firstChild, again = one('p', part)?.firstChild;
  if (words?.data && words.data === again?.data) again.replaceWith(words);
}

// Moving text unselects it.
function selected() {
  const selection = getSelection(), { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed } = selection;
  return () => !isCollapsed && anchorNode.isConnected && focusNode.isConnected && selection.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
}

// -- what is in sight ------------------------------------------------------------------------------------------------

// Browsers do it too, but lose their hold with the element that they hold on to, and not all have learnt it. The first
// choice is what begins highest in the middle of the window, the last what began above it.
function hold() {
  const main = byId('thread'), { style } = html, seen = [];
  for (let y = innerHeight; main && scrollY && y > BAR; y -= 24) {
    const element = document.elementFromPoint(innerWidth / 2, y);
    if (element !== main && main.contains(element)) seen[top(element) < BAR ? 'push' : 'unshift']([element, top(element)]);
  }
  style.overflowAnchor = 'none';
  return () => {
    for (const [element, at] of seen) {
      const now = element.isConnected ? element : byId(element.id);
      if (!now) continue;
      scrollBy(0, top(now) - at);
      break;
    }
    requestAnimationFrame(() => requestAnimationFrame(() => { style.overflowAnchor = ''; }));
  };
}

// Applies all of them in order; ids that are not there are ignored. Returns the elements that are new or redrawn.
export async function apply(ops) {
  const found = fresh = new Set(), holds = hold(), reselect = selected();
  let bubble;
  for (const [name, id, ...rest] of ops) {
    const gone = name === 'd' && byId(id), done = OPS[name]?.(id, ...rest);
    if (done) await done;
    // The text of a bubble comes as a part right after it is taken away.
    if (bubble && name === 'i') become(bubble, [...found].pop());
    bubble = gone;
  }
  reselect();
  holds();
  return [...found].filter(element => element?.isConnected);
}
