// A front end that is not ours: the official Lit renderer of A2UI v0.9 on the live channel. It knows components by the ids
// that the agent gave and the paths of their data, no catalog but the Basic one, and nothing of how our panel draws them.
import {MessageProcessor} from '@a2ui/web_core/v0_9';
import {basicCatalog} from '@a2ui/lit/v0_9';

// The renderer writes attributes of style, which the policy of a site that lets nobody write any blocks: what they say is
// set as properties, which it does not.
const {setAttribute} = Element.prototype;
Element.prototype.setAttribute = function (name, value) {
  if (name === 'style') this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

const session = new URLSearchParams(location.search).get('session');
const instance = Math.random().toString(36).slice(2, 14);
const owners = new Map();
const processor = new MessageProcessor([basicCatalog]);
let socket, token, again, serial = 0;

processor.onSurfaceCreated(surface => {
  const element = document.createElement('a2ui-surface');
  element.surface = surface;
  element.dataset.surface = surface.id;
  document.body.append(element);
});
processor.onSurfaceDeleted(id => document.querySelector(`a2ui-surface[data-surface="${CSS.escape(id)}"]`)?.remove());

const bound = {TextField: 'value', CheckBox: 'value', ChoicePicker: 'value', Slider: 'value', DateTimeInput: 'value'};

const contextOf = (event, wanted) => event.composedPath().map(element => element.context).find(
  context => context?.componentModel && wanted(context.componentModel.type));

const targetOf = context => {
  const {path, surface} = context.dataContext;
  const target = {owner: owners.get(surface.id), surfaceId: surface.id, componentId: context.componentModel.id};
  return path && path !== '/' ? {...target, itemPath: path} : target;
};

document.addEventListener('click', event => {
  const context = contextOf(event, type => type === 'Button');
  if (context) act('beach:click', {target: targetOf(context)});
}, true);

for (const kind of ['input', 'change'])
  document.addEventListener(kind, event => {
    const context = contextOf(event, type => type in bound);
    const binding = context?.componentModel.properties[bound[context.componentModel.type]];
    if (typeof binding?.path !== 'string') return;
    // When the component has written to its own model.
    setTimeout(() => {
      const value = context.dataContext.resolveDynamicValue(binding);
      act('beach:edit', {target: targetOf(context), value: value ?? ''});
    });
  });

const act = (action, data) => send('action', {
  sessionId: session, type: 'data:submit', payload: {action, data}, clientSeq: ++serial});

const send = (type, payload) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({type, payload}));
};

const take = (owner, messages) => {
  for (const message of messages) {
    for (const body of Object.values(message)) if (body?.surfaceId) owners.set(body.surfaceId, owner);
    processor.processMessages([message]);
  }
};

const receive = ({type, payload}) => {
  if (type === 'ack' && payload.session) {
    token = payload.sessionToken ?? token;
    for (const id of owners.keys()) take('', [{version: 'v0.9', deleteSurface: {surfaceId: id}}]);
    owners.clear();
    for (const surface of payload.session.surfaces) take(surface.owner, surface.messages);
    document.body.dataset.state = 'live';
  } else if (type === 'data' && payload.channel.startsWith('beach:surface/')) {
    const [, owner] = payload.channel.split('/');
    take(owner, payload.payload.messages);
  } else if (type === 'error') {
    document.body.dataset.problem = JSON.stringify(payload);
  }
};

const connect = async () => {
  again = undefined;
  let query = `token=${encodeURIComponent(token ?? '')}`, wsToken;
  try {
    if (!token) {
      const answer = await fetch(`/api/sessions/${session}/live-token`, {
        method: 'POST', headers: {'X-CSRFToken': new URLSearchParams(location.search).get('csrf')}});
      ({wsToken} = await answer.json());
      query = 'wsToken=1';
    }
  } catch {
    return later();
  }
  socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws/live/?${query}`);
  socket.onopen = () => send('subscribe', {sessionId: session, instance, a2ui: ['v0.9'],
    catalogs: [basicCatalog.id], ...(wsToken && {wsToken})});
  socket.onmessage = event => receive(JSON.parse(event.data));
  socket.onclose = event => {
    document.body.dataset.state = 'away';
    if (event.code === 4401) token = undefined;
    later();
  };
};

const later = () => { again ??= setTimeout(connect, 200); };

window.cut = () => {
  document.body.dataset.state = 'away';
  socket.close();
};
connect();
