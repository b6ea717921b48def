// What every module does with the page and with the memory of the tab.

export const html = document.documentElement;
export const focused = () => document.activeElement;
export const byId = id => document.getElementById(id);
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];
export const one = (selector, root = document) => root.querySelector(selector);
export const make = (name, properties) => Object.assign(document.createElement(name), properties);
export const parse = markup => make('template', { innerHTML: markup }).content;
export const copy = template => byId(template).content.firstElementChild.cloneNode(true);

// Of these and of what is inside of them.
export const within = (roots, selector) => roots.flatMap(root => [root, ...all(selector, root)].filter(found => found.matches(selector)));

// What says it already is left alone, with what is selected there.
export function say(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

// Not crypto.randomUUID, which pages without TLS do not have.
export const randomId = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

// As the server counts them.
export const length = text => [...text].length;
export const top = element => element.getBoundingClientRect().top;

// Also of what cannot take focus by itself: -1 is what it says then already, but only setting it has that effect.
export function focus(element) {
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

// Whatever is on the page now or later. Capturing, since "close" does not bubble.
export const when = (type, selector, act, root = document) => root.addEventListener(type, e => {
  const found = e.target.closest?.(selector);
  if (found) act(found, e);
}, true);

// Storage may be full or forbidden: then nothing outlives a reload, and everything else works.
export function store(key, value) {
  try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* kept in the page only */ }
}

export function stored(key) {
  try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; }
}
