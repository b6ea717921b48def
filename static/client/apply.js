// Operations of a frame on the page (D41): elements by id, directly; htmx only where a field may be in use (D39). What a
// person reads stays where it is, and what they have selected in text that streams stays selected when it ends.

import { byId, focus, focused, html, parse, say, top } from './dom.js';
import { INSERT, MORPH, MOVE, REMOVE, REPLACE, TEXT } from './ops.js';

const BAR = 64;                // px from the top that a bar may cover
let fresh;                     // elements that are new or redrawn

// Focus that gets lost with its element goes to the nearest thing that is still there.
async function keepingFocus(id, change) {
  const active = focused(), element = byId(id), inside = element?.contains(active), after = element?.nextElementSibling;
  await change(element);
  if (!inside || focused() === active) return;
  const next = byId(active.id) ?? byId(id) ?? after;
  if (next) focus(next);
}

const OPS = {
  [REPLACE](id, markup) {
    const element = byId(id);
    if (!element) return;
    if (element.contains(focused())) return OPS[MORPH](`<hx-partial hx-target="#${id}" hx-swap="outerMorph">${markup}</hx-partial>`);
    element.outerHTML = markup;
    fresh.add(byId(id));
  },
  [TEXT](id, text) {
    say(byId(id), text);
  },
  [INSERT](ref, where, markup) {
    const roots = [...parse(markup).children];
    // Right after something, the last one goes first.
    for (const element of where[0] === 'a' ? roots.reverse() : roots) {
      byId(ref)?.insertAdjacentElement(where, element);
      fresh.add(element);
    }
  },
  [MOVE](id, ref) {
    const first = ref[0] === '^', anchor = byId(first ? ref.slice(1) : ref), element = byId(id);
    if (!element || !anchor) return;
    const into = first ? anchor : anchor.parentNode, before = first ? anchor.firstChild : anchor.nextSibling;
    if (before === element) return;
    // moveBefore keeps focus, typed text, scroll positions and open dialogs; insertBefore loses focus, which is given back.
    return into.moveBefore ? into.moveBefore(element, before) : keepingFocus(id, () => into.insertBefore(element, before));
  },
  [REMOVE](id) {
    return keepingFocus(id, element => element?.remove());
  },
  // Through htmx: the old nodes stay and take on what is new.
  async [MORPH](text) {
    const id = text.match(/"#([\w-]+)"/)[1], root = document.body;
    await keepingFocus(id, () => htmx.swap({ text, swap: 'none', sourceElement: root, target: root }));
    fresh.add(byId(id));
  },
};

// -- what is selected ------------------------------------------------------------------------------------------------

// What has streamed and whose part has come: what is the same is not drawn again.
function become(bubble, part) {
  const were = [...bubble.childNodes];
  for (const node of [...part.childNodes]) {
    const was = were.shift();
    if (node.isEqualNode(was)) node.replaceWith(was);
    else if (was) become(was, node);
  }
}

// Moving text unselects it.
function selected() {
  const selection = getSelection(), { anchorNode, focusNode, isCollapsed } = selection, ends = [anchorNode, selection.anchorOffset, focusNode, selection.focusOffset];
  return () => !isCollapsed && anchorNode.isConnected && focusNode.isConnected && selection.setBaseAndExtent(...ends);
}

// -- what is in sight ------------------------------------------------------------------------------------------------

// Browsers do it too, but lose their hold with the element that they hold on to, and not all have learnt it. The first
// choice is what begins highest in the middle of the window, the last what began above it. In a window of another height
// it is as far down.
export function hold() {
  const high = innerHeight, seen = [];
  for (let y = high; y > BAR; y *= .8) {
    const element = document.elementFromPoint(innerWidth / 2, y);
    if (element?.closest('#thread > :not(nav)')) seen[top(element) < BAR ? 'push' : 'unshift']([element, top(element)]);
  }
  return () => {
    for (const [element, at] of seen) {
      const now = element.isConnected ? element : byId(element.id);
      if (now) return scrollBy(0, top(now) - at * innerHeight / high);
    }
  };
}

// Applies all of them in order; ids that are not there are ignored. Returns the elements that are new or redrawn.
export async function apply(ops) {
  const found = fresh = new Set(), holds = hold(), reselect = selected(), { style } = html;
  let bubble;
  style.overflowAnchor = 'none';
  for (const [name, id, ...rest] of ops) {
    const gone = name === REMOVE && byId(id), done = OPS[name]?.(id, ...rest);
    if (done) await done;
    // The text of a bubble comes as a part right after it is taken away.
    if (bubble && name === INSERT) become(bubble, [...found].pop());
    bubble = gone;
  }
  reselect();
  holds();
  requestAnimationFrame(() => requestAnimationFrame(() => { style.overflowAnchor = ''; }));
  return [...found].filter(element => element?.isConnected);
}
