// Text that an agent is writing, before its part comes. Offsets count characters as the server does, not UTF-16 units.

import { byId, copy, one } from './dom.js';
import { follow } from './thread.js';

const streams = new WeakMap();   // bubble -> {node, count}
const over = new Set();          // bubbles whose part has come: text that was overtaken by it is late, not new

function bubble(frame) {
  const into = byId(frame.into);
  if (!into) return;
  const made = copy(/ack|thinking/.test(frame.partType) ? 'ripple' : 'bubble'), node = new Text();
  made.id = `v${frame.live}`;
  one('[data-text]', made).prepend(node);
  streams.set(made, { node, count: 0 });
  (one(':scope > .b-live', into) ?? into).append(made);
  return made;
}

// Returns false when something is missing.
export function delta(frame) {
  const id = `v${frame.live}`, { offset, text } = frame;
  if (over.has(id)) return true;
  const made = byId(id) ?? (offset === 0 && bubble(frame));
  if (!made) return offset === 0 || !byId(frame.into);
  const stream = streams.get(made), { node, count } = stream;
  if (offset > count) return false;
  // Only what changes is written: text before it that somebody has selected stays selected.
  const kept = offset === count ? node.length : [...node.data].slice(0, offset).join('').length;
  node.replaceData(kept, node.length, text);
  stream.count = offset + [...text].length;
  follow(false, true);
  return true;
}

// Before a frame is applied: which bubbles it ends.
export function ends(ops) {
  for (const [name, id] of ops) {
    if (name === 'd') over.add(id);
    if (name === 't') for (const made of byId(id)?.children ?? []) over.add(made.id);
  }
}
