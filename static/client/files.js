// Files that go along with a message: above the box until it is sent, in its bubble while they are on their way, and
// back above the box when it did not go. They lie in this page alone: whoever is about to leave it is asked (R12).

import { all, byId, copy, focus, html, one } from './dom.js';
import { announce, facts, strings, toast, words } from './page.js';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
const TRIES = 4;                   // in a row that may fail in passing
const form = byId('composer'), list = byId('chosen'), picker = byId('files');
const onTheirWay = new Set();      // batches of which not all is with the server
let chosen = [];                   // {file, id}: `id` once it is kept
let adding = Promise.resolve();
let changed;                       // hears when there are others above the box

function size(bytes) {
  let unit = 0;
  for (; bytes >= 1000 && unit < 3; unit++) bytes /= 1000;
  return new Intl.NumberFormat(html.lang, { style: 'unit', unit: UNITS[unit], unitDisplay: unit ? 'short' : 'long', maximumFractionDigits: bytes < 10 && unit ? 1 : 0 }).format(bytes);
}

// As people read it: what turns the direction of a line makes another name of it, and a very long one would fill the page.
const nameOf = ({ name }) => name.replace(/[\p{Bidi_Control}\p{Cc}]/gu, '').replace(/^(.{80}).{21,}(.{20})$/u, '$1…$2');

function piece(name, { file }) {
  const made = copy(name), label = one('button', made);
  one('[data-name]', made).textContent = nameOf(file);
  one('[data-size]', made).textContent = size(file.size);
  for (const element of all('[aria-label]', made)) element.ariaLabel = element.ariaLabel.replace('{}', () => nameOf(file));
  label.title = label.ariaLabel;
  return made;
}

function show() {
  list.replaceChildren(...chosen.map(item => {
    const made = piece('attached', item);
    one('button', made).onclick = () => {
      const at = chosen.indexOf(item);
      chosen.splice(at, 1);
      show();
      focus(one('button', list.children[Math.min(at, chosen.length - 1)]) ?? byId('msg'));
    };
    return made;
  }));
  list.parentNode.hidden = !chosen.length;
  changed();
}

// A folder looks like a file until it is read.
const readable = file => file.slice(0, 1).arrayBuffer().then(() => true, () => false);

// In the order in which they were chosen.
export function add(files, redraw) {
  if (picker.disabled) return;
  changed = redraw;
  picker.value = '';
  adding = adding.then(() => take(files));
}

async function take(files) {
  for (const file of files) {
    const name = nameOf(file);
    if (chosen.length >= facts.fileMost) return toast(words('fileMany', facts.fileMost));
    if (file.size > facts.fileLimit) toast(words('fileTooLarge', name, size(+facts.fileLimit)));
    else if (!await readable(file)) toast(words('fileEmpty', name));
    else {
      chosen.push({ file });
      show();
      announce(`${name}, ${size(file.size)}`);
    }
  }
}

// -- on their way ----------------------------------------------------------------------------------------------------

class Batch {
  constructor(items) {
    this.items = items;
    this.tries = 0;
  }

  // What is left of them after a reload.
  toJSON() { return this.items.map(({ file }) => nameOf(file)); }

  // Into the bubble of their message, which has taken them over.
  draw(bubble) {
    chosen = [];
    show();
    onTheirWay.add(this);
    for (const item of this.items) {
      const made = item.drawn = piece('going', item);
      one('button', made).onclick = () => item.stop?.();
      one('.b-me__text', bubble).before(made);
      tellGone(item, +!!item.id);
    }
  }

  // Back above the box.
  back() {
    onTheirWay.delete(this);
    chosen = [...this.items, ...chosen];
    show();
  }

  // Then the message of `entry` names them: `go` sends it. `answer` hears what is in the way, as if a frame had said so.
  async send(entry, answer, go) {
    if (this.busy) return;
    this.busy = true;
    const { message } = entry;
    let why;
    try {
      for (const item of this.items) item.id ??= await kept(item);
      message.files = this.items.map(({ id }) => id);
      onTheirWay.delete(this);
    } catch (error) {
      why = error;
    }
    this.busy = false;
    this.tries = why?.retry ? this.tries + 1 : 0;
    // What is behind it waits as long: then it is for the person to say.
    if (this.tries > TRIES) {
      this.tries = 0;
      why = { code: 'internal', message: words('unsent', strings.fileLost) };
    }
    if (why) answer({ ...why, id: message.id });
    else go(entry);
  }
}

// What stands above the box, as it is to go along with a message.
export const batch = () => chosen.length ? new Batch(chosen) : null;

function tellGone({ drawn, file }, part, under) {
  const bar = one('.b-bar', drawn), meta = one('[data-size]', drawn);
  bar.value = part;
  bar.hidden = one('button', drawn).hidden = !under;
  meta.textContent = under ? `${Math.round(part * 100)} % · ${size(file.size)}` : size(file.size);
}

// Resolves with the id under which it is kept.
const kept = item => new Promise((resolve, reject) => {
  const ask = new XMLHttpRequest(), body = new FormData(), { file } = item;
  const fail = why => {
    tellGone(item, 0);
    reject(why);
  };
  body.append('file', file, file.name);
  ask.open('POST', facts.keep.replace('/-/', `/${facts.session}/`));
  ask.setRequestHeader('X-CSRFToken', one('[name=csrfmiddlewaretoken]').value);
  ask.upload.onprogress = ({ loaded, total }) => tellGone(item, loaded / total, true);
  ask.onerror = () => fail({ retry: true });
  ask.onabort = () => fail({ code: 'stopped', message: words('unsent', strings.fileStopped) });
  ask.onload = async () => {
    const { status } = ask, told = read(ask.responseText);
    if (status === 201) {
      tellGone(item, 1);
      return resolve(told.artifactId);
    }
    const passing = status >= 500 || /408|429/.test(status) || status === 403 && !item.asked;
    // The token may be of a login that was another one: once, it is asked for again.
    if (status === 403) item.asked = await fresh();
    if (passing) fail({ retry: true });
    else if (status === 401) fail({ code: 'internal', message: words('unsent', strings.signedOut) });
    else fail({ code: status === 413 ? 'too_large' : 'internal', message: told.message ?? (status === 413 ? words('fileTooLarge', nameOf(file), size(+facts.fileLimit)) : strings.failed) });
  };
  item.stop = () => ask.abort();
  tellGone(item, 0, true);
  ask.send(body);
});

function read(text) {
  try { return JSON.parse(text); } catch { return {}; }
}

async function fresh() {
  try {
    const { csrf } = await (await fetch(facts.reach, { method: 'POST' })).json();
    for (const input of all('[name=csrfmiddlewaretoken]')) input.value = csrf;
  } catch { /* the next attempt is told */ }
  return true;
}

// -- the page --------------------------------------------------------------------------------------------------------

addEventListener('beforeunload', e => { if (chosen.length || onTheirWay.size) e.preventDefault(); });
// Where they can be dropped is everywhere; where they will be is the box.
addEventListener('dragover', () => { form.dataset.over = ''; });
for (const type of ['drop', 'dragend', 'dragleave']) addEventListener(type, e => { if (!e.relatedTarget) delete form.dataset.over; });
