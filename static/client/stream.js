// Text that an agent is writing, before its part comes. Offsets count characters as the server does, not UTF-16 units.

import { byId, copy, one, parse } from './dom.js';
import { REMOVE, TEXT } from './ops.js';
import { follow } from './thread.js';

const over = new Set();          // bubbles whose part has come: text that was overtaken by it is late, not new

// Returns false when something is missing. `draw`: what changes about the blocks of a bubble whose blocks stand up to
// `from`, as [at, depth, html] (presenter/streamed.py); the text is what stands behind them then.
export function delta({ live, into, piece = 'bubble', offset, text, from = offset, draw }) {
  const id = `v${live}`, place = byId(into);
  if (!place || over.has(id)) return true;
  let made = byId(id);
  if (!made) {
    if (from) return false;
    made = copy(piece);
    made.id = id;
    one('.b-live', place).append(made);
  }
  // The text remembers where it begins, behind the blocks, and where it ends.
  const tail = one('[data-text]', made), node = tail.firstChild;
  let { base = 0, count = 0 } = node;
  if (from > (draw ? base : count)) return false;
  // What is older than the picture is in it.
  if (from && from < base) return true;
  if (draw) {
    // A picture for a page that has none, or none for text that is too long for one.
    if (!from) made.replaceChildren(tail);
    for (let [at, depth, markup] of draw) {
      let block = made.children[at];
      if (depth) {
        while (--depth) block = block.lastElementChild;
        block.append(parse(markup));
        block.normalize();
      } else {
        block.before(parse(markup));
        if (block !== tail) block.remove();
      }
    }
    base = count = offset;
    node.data = '';
  }
  // Only what is new is written, however long the text is: what is selected in it stays selected.
  const news = [...text].slice(count - offset);
  if (count) node.appendData(news.join(''));
  else node.data = news.join('');
  Object.assign(node, { base, count: count + news.length });
  follow(false, [made]);
  return true;
}

// Before a frame is applied: which bubbles it ends.
export function ends(ops) {
  for (const [name, id] of ops) {
    if (name === REMOVE) over.add(id);
    if (name === TEXT) for (const made of byId(id)?.children ?? []) over.add(made.id);
  }
}
