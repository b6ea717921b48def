// The gallery of A2UI programs: the modules of the chat for what is inside of a surface, plain requests instead of its
// socket. Whatever is asked for goes out in order, and only after what was typed before it has its answer: the server
// keeps nothing, so each request says all of it.

import { apply } from './apply.js';
import { all, byId, when } from './dom.js';
import { edits, flush } from './fields.js';
import { announce, main, strings, toast, words } from './page.js';
import { carry } from './port.js';
import { clicks, restore } from './surface.js';

const form = byId('bench'), draft = byId('draft');
const answers = { edit: edits, action: clicks, show: clicks };
let last = Promise.resolve(), waiting = 0, count = 0;

// -- what is done on the surface -------------------------------------------------------------------------------------

async function ask(message) {
  const { id, ...doing } = message, body = new FormData(form), { acked, refused } = answers[message.type];
  body.delete('draft');
  body.set('doing', JSON.stringify(doing));
  const answer = await fetch(form.dataset.actUrl, { method: 'POST', body });
  const said = await answer.json().catch(() => ({ refused: excuse(answer) }));
  if (said.refused) return refused?.({ id, message: said.refused }, message) || toast(said.refused);
  restore(await apply(said.ops));
  await htmx.swap({ text: said.parts, swap: 'none', sourceElement: main, target: main });
  acked({ id, effect: said.effect }, message);
}

// The token of the form is of a login that has ended, or begun since.
const excuse = ({ status }) => strings[status === 403 ? 'stale' : 'failed'];

function failed(message) {
  answers[message.type].refused?.({ id: message.id, message: strings.failed }, message);
  toast(strings.failed);
}

carry((message, { button } = {}) => {
  if (button?.ariaBusy === 'true') return '';
  if (button) button.ariaBusy = true;
  message.id = ++count;
  waiting++;
  last = last.then(() => ask(message)).catch(() => failed(message)).finally(() => {
    waiting--;
    button?.removeAttribute('aria-busy');
  });
  return message.id;
});

// -- the program, its steps and the switches -------------------------------------------------------------------------

function submit(_, e) {
  const size = e.submitter?.name === 'run' ? new Blob([draft.value]).size : 0, most = Number(form.dataset.most);
  flush();
  if (size <= most && !waiting && e.submitter?.ariaDisabled !== 'true') return;
  e.preventDefault();
  e.stopImmediatePropagation();
  if (size > most) toast(words('tooLong', size.toLocaleString(), most.toLocaleString()));
  else if (waiting) last.then(() => form.requestSubmit(e.submitter));
}

// While a step is on its way, what is done on the old one waits.
form.addEventListener('htmx:before:request', () => {
  main.ariaBusy = true;
  last = new Promise(over => { form.addEventListener('htmx:finally:request', over, { once: true }); });
});

form.addEventListener('htmx:finally:request', () => {
  main.ariaBusy = null;
  restore([main]);
  showStep();
});

form.addEventListener('htmx:after:swap', () => {
  const said = byId('notice').textContent.trim();
  if (!said) announce(all('[aria-current=step]')[0].textContent);
});

// Without a part in it, an answer says nothing: the server refused it before the gallery saw it.
form.addEventListener('htmx:response:error', ({ detail: { ctx } }) => {
  if (!ctx.text.includes('<hx-partial')) toast(excuse(ctx.response));
});
form.addEventListener('htmx:error', () => toast(strings.failed));

function showStep() {
  const list = byId('step-list'), now = list.querySelector('[aria-current]').parentNode;
  list.scrollTo({ left: now.offsetLeft - (list.clientWidth - now.offsetWidth) / 2, behavior: 'instant' });
}

// -- the editor ------------------------------------------------------------------------------------------------------

function showPlace(button) {
  const line = Number(button.dataset.line), rows = draft.value.split('\n').slice(0, line);
  const from = rows.slice(0, -1).join('\n').length + (line > 1);
  byId('tab-program').click();
  draft.focus();
  // A selection is scrolled to by what is typed, not by being made: the height of a line does that.
  draft.setSelectionRange(from, from + rows.at(-1).length);
  draft.scrollTop = draft.scrollHeight * (line - 5) / draft.value.split('\n').length;
}

when('submit', '#bench', submit);
when('change', '[data-live]', () => form.requestSubmit());
when('click', '[data-line]', showPlace);
when('keydown', '#draft', (_, e) => {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) form.requestSubmit(all('[name=run]')[0]);
});
// How the surface is looked at stays when another sample is chosen.
when('click', '[data-sample]', link => {
  const { width, theme } = form.elements;
  link.search = new URLSearchParams({ sample: link.dataset.sample, width: width.value, theme: theme.value });
});

showStep();
