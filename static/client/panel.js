// The page of a conversation: what comes in goes to the modules that it concerns.

import { apply } from './apply.js';
import { startCards } from './card.js';
import { calibrate, startClock } from './clock.js';
import { drawComposer, messages, online, settle, slow, startComposer } from './composer.js';
import { all, byId, when } from './dom.js';
import { applying, edits, recall, startFields } from './fields.js';
import { announce, root, seen, strings, toast, words } from './page.js';
import { begin, join } from './session.js';
import { wake } from './socket.js';
import { clicks, restore, startSurfaces } from './surface.js';
import { decisions, delta, ends, follow, pending, showNews, startThread, toEnd } from './thread.js';

// -- connection ------------------------------------------------------------------------------------------------------

let known = 'connected';       // state of the connection, as far as it was told
let title = byId('title').textContent;

function state(now, tries, code) {
  const status = byId('status'), [text, more] = all('span', status);
  status.dataset.state = now === 'closed' ? 'offline' : now;
  text.firstChild.data = strings[now === 'reconnecting' && !tries ? 'connecting' : now];
  more.textContent = now === 'reconnecting' && tries > 1 ? words('attempt', tries) : '';
  online(now === 'connected');
  if (now === 'closed') toast(strings[code === 4401 ? 'signIn' : 'closed'], 'bad');
  // One lost connection that is back at once is nobody's business.
  if (now === 'reconnecting' && tries < 2) return;
  if (now === 'connected' && known !== now || now === 'reconnecting' && known === 'connected') announce(strings[now]);
  known = now;
}

function busy(now) {
  const before = root.dataset.busy === 'true', waiting = pending();
  const note = byId('side-note');
  root.dataset.busy = now;
  drawComposer();
  if (note) {
    const [dot, text] = note.children;
    note.hidden = !waiting && !now;
    note.classList.toggle('b-session__note--ask', waiting);
    dot.classList.toggle('b-dot--live', !waiting);
    text.textContent = strings[waiting ? 'waiting' : 'working'];
  }
  if (now !== before && (now || !waiting)) announce(strings[now ? 'busy' : 'ready']);
}

// The list of conversations is the server's; it is asked for when it may have changed.
const relist = () => document.dispatchEvent(new Event('sessions'));

async function redraw(frame) {
  applying(frame.seq);
  ends(frame.ops);
  const roots = await apply(frame.ops);
  restore(roots);
  root.dataset.seq = frame.seq;
  settle();
  busy(frame.busy);
  showNews(roots);
  const { textContent } = byId('title');
  if (textContent === title) return;
  // Its first words name a conversation, and put it into the list.
  title = textContent;
  document.title = `${title} · Beach`;
  relist();
}

// By the type of what was sent: `acked`, and `refused`, which says whether it has told the person.
const answers = { message: messages, edit: edits, action: clicks, show: clicks, decide: decisions };

const handlers = {
  state,
  seen,
  frame: redraw,
  delta,
  welcome: frame => {
    if (frame.now) calibrate(frame.now);
    busy(frame.busy);
  },
  ack: (frame, message) => {
    answers[message.type]?.acked?.(frame, message);
    // What a click asks for is answered at the end.
    if (message.type === 'action' && !frame.effect?.openUrl) follow(true);
  },
  error: (frame, message) => answers[message?.type]?.refused(frame, message) || toast(frame.message, 'bad'),
  slow: message => message.type === 'message' ? slow(message.id) : toast(strings.slow),
};

// -- shell -----------------------------------------------------------------------------------------------------------

function shell() {
  const drawer = byId('drawer'), side = byId('side');
  when('click', '#menu', () => { drawer.append(side); drawer.showModal(); });
  when('close', '#drawer', () => root.prepend(side));
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    wake();
    relist();
  });
  matchMedia('(min-width: 60rem)').onchange = e => e.matches && drawer.close();
  when('theme', 'form', (_, { detail }) => {
    const theme = detail.value ?? detail, { dataset } = document.documentElement;
    dataset.theme = theme;
    if (theme === 'auto') delete dataset.theme;
    for (const button of all('button[name=theme]')) button.ariaPressed = button.value === theme;
  });
  // The keyboard of a phone covers the page without resizing it; the dock has to know by how much.
  const view = visualViewport;
  view.onresize = view.onscroll = () => {
    root.style.setProperty('--b-keyboard', `${Math.max(0, Math.round(innerHeight - view.height - view.offsetTop))}px`);
  };
}

shell();
startClock(root.dataset);
startThread();
startCards();
startFields();
startSurfaces();
const kept = join(handlers);
startComposer(kept);
recall(kept);
begin();
toEnd();
