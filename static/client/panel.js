// The page of a conversation: what comes in goes to the modules that it concerns.

import { apply } from './apply.js';
import { startCards } from './card.js';
import { calibrate, startClock } from './clock.js';
import { drawComposer, messages, online, settle } from './composer.js';
import { decisions } from './decide.js';
import { byId, html, when } from './dom.js';
import { applying, edits } from './fields.js';
import { recall, withdraw } from './outbox.js';
import { announce, facts, root, strings, toast } from './page.js';
import { begin } from './session.js';
import { ask, dial, listen, wake } from './socket.js';
import { delta, ends } from './stream.js';
import { clicks, restore } from './surface.js';
import { aim, follow, pending, showNews, squeeze, toEnd } from './thread.js';

// -- connection ------------------------------------------------------------------------------------------------------

let known;                     // what was said of the connection

function busy(now) {
  const before = facts.busy, asks = !!pending();
  facts.busy = now;
  // For the list of conversations: a style that looks for the card would have all be styled again that is on the page
  // whenever more of the conversation comes.
  facts.asks = asks;
  drawComposer();
  if (facts.busy === before) return;
  // When its turn began or ended is in the list too, and its first words name it there.
  relist();
  if (now || !asks) announce(strings[now ? 'busy' : 'ready']);
}

// The list of conversations is the server's; it is asked for when it may have changed. A page that nobody looks at asks
// when somebody does.
const relist = () => document.hidden || htmx.trigger(document, 'sessions');

// By the type of what was sent: `moved`, whenever its state changes, `refused`, which both say whether they have told the
// person; `acked`; `recalled`, after a reload.
const answers = { message: messages, edit: edits, action: clicks, show: clicks, decide: decisions };

function hear(entry, ack) {
  const { message, state: now, why } = entry, does = answers[message.type];
  // What is asked for in a gap is told of in its place, not over what is read.
  const told = does?.moved?.(entry, ack) || message.target?.[0] === 'g';
  if (now === 'slow' && !told) toast(strings.slow);
  if (now === 'refused') {
    if (told || does?.refused?.({ id: message.id, ...why }, message)) announce(why.message);
    else {
      toast(why.message);
      withdraw(message.id);
    }
  }
  if (!ack) return;
  does?.acked?.(ack, message);
  // What a click asks for is answered at the end.
  if (message.type === 'action' && !ack.effect?.openUrl) follow(true);
}

// -- shell -----------------------------------------------------------------------------------------------------------

const drawer = byId('drawer'), side = byId('side');
when('click', '#menu', () => { drawer.append(side); drawer.showModal(); });
when('close', '#drawer', () => root.prepend(side));
document.addEventListener('visibilitychange', () => { wake(); relist(); });
when('theme', 'form', (_, { detail: { value } }) => {
  html.dataset.theme = value;      // "auto" names no theme, so it is the system's
});
// Signed in or out in another tab: the token of a form is of the login before.
when('htmx:response:error', 'form', async (_, { detail: { ctx } }) => {
  toast(ctx.response.status === 403 && !await ask() ? strings.tokenStale : strings.failed);
});
// The keyboard of a phone covers the page without resizing it; the dock has to know by how much.
const view = visualViewport;
view.onresize = view.onscroll = () => {
  // Wide enough for both there is no button for it.
  if (!byId('menu').offsetHeight) drawer.close();
  squeeze();
  root.style.setProperty('--b-keyboard', `${Math.max(0, innerHeight - view.height - view.offsetTop)}px`);
};

startClock();
startCards();
recall(entry => {
  const does = answers[entry.message.type];
  (does.recalled ?? does.moved)?.(entry);
}, hear);
settle();
listen({
  begin,
  state(now, tries, why) {
    const status = byId('status');
    status.dataset.state = { closed: 'offline', idle: 'connected' }[now] ?? now;
    online(now, tries, why);
    // One lost connection that is back at once is nobody's business.
    if (now === known || now === 'reconnecting' && tries < 2) return;
    if (known && now !== 'idle') announce(status.innerText);
    known = now;
  },
  async frame(frame) {
    applying(frame.seq);
    ends(frame.ops);
    const roots = await apply(frame.ops);
    restore(roots);
    facts.seq = frame.seq;
    facts.mark = frame.mark;
    settle();
    busy(frame.busy);
    showNews(frame.id ? [] : roots);
  },
  delta,
  welcome: frame => {
    calibrate(frame.now);
    facts.mark = frame.mark ?? facts.mark;
    busy(frame.busy);
  },
  error: frame => toast(frame.message),
  sessions: relist,
});
dial();
if (!aim) toEnd();
