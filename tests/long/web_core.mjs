// The official JavaScript core as a process: a program of v0.9.1 a line in, its resolved tree a line out. Its argument is
// the folder where `@a2ui/web_core` is installed. The walk follows the rulebook (7.5, 8); values, actions and checks are
// the core's own.
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const require = createRequire(join(process.argv[2], 'package.json'));
const core = await import(pathToFileURL(require.resolve('@a2ui/web_core/v0_9')));
const {BASIC_COMPONENTS, BASIC_FUNCTIONS, Catalog, ComponentContext, GenericBinder, MessageProcessor} = core;

const BASIC = 'https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json';
const OWN = new Set(['checks', 'action', 'children']);
const SLOTS = ['child', 'trigger', 'content'];
const MOST_NODES = 2000;

function run(program) {
  const errors = [];
  const processor = new MessageProcessor([new Catalog(BASIC, BASIC_COMPONENTS, BASIC_FUNCTIONS)]);
  program.forEach((message, position) => {
    try {
      if ('@write' in message) {
        const {surfaceId, scope, path, value} = message['@write'];
        new core.DataContext(processor.model.getSurface(surfaceId), scope || '/').set(path, value);
      } else processor.processMessages([message]);
    } catch {
      errors.push(position);
    }
  });
  const surface = processor.model.getSurface('s');
  return {errors, dataModel: surface ? surface.dataModel.get('/') : null, nodes: surface ? nodes(surface) : []};
}

function nodes(surface) {
  const found = [];
  const waiting = surface.componentsModel.get('root') ? [['root', 'root', '/', new Set()]] : [];
  while (waiting.length && found.length < MOST_NODES) {
    const [at, id, scope, above] = waiting.pop();
    const node = {at, id, scope};
    found.push(node);
    if (above.has(`${id} ${scope}`)) {
      node.state = 'cycle';
      continue;
    }
    const component = surface.componentsModel.get(id);
    if (!component) {
      node.state = 'missing';
      continue;
    }
    const context = new ComponentContext(surface, id, scope);
    const {schema} = surface.catalog.components.get(component.type);
    const props = new GenericBinder(context, schema).snapshot;
    const raw = component.properties;
    Object.assign(node, {type: component.type, state: 'ok', props: {}});
    for (const [key, value] of Object.entries(props))
      if (!OWN.has(key) && typeof value !== 'function') node.props[key] = plain(value);
    if (raw.action?.event) {
      const {event} = context.dataContext.resolveAction(raw.action);
      node.action = {name: event.name, context: event.context ?? {}};
    }
    const below = new Set(above).add(`${id} ${scope}`);
    waiting.push(...[...children(context, at, scope, raw)].reverse().map(child => [...child, below]));
  }
  return found;
}

function* children(context, at, scope, raw) {
  for (const slot of SLOTS) if (typeof raw[slot] === 'string') yield [`${at}/${slot}`, raw[slot], scope];
  for (const [index, tab] of (raw.tabs ?? []).entries()) yield [`${at}/tabs/${index}/child`, tab.child, scope];
  const list = raw.children;
  if (Array.isArray(list)) for (const [index, child] of list.entries()) yield [`${at}/children/${index}`, child, scope];
  else if (list) {
    const path = context.dataContext.resolvePath(list.path);
    const items = context.dataContext.dataModel.get(path);
    for (const index of Array.isArray(items) ? items.keys() : [])
      yield [`${at}/children/${index}`, list.componentId, `${path.replace(/\/$/, '')}/${index}`];
  }
}

function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => typeof inner !== 'function')
      .map(([key, inner]) => [key, plain(inner)]),
  );
}

console.warn = console.error = console.debug = () => {};
for await (const line of createInterface({input: process.stdin})) {
  let answer;
  try {
    answer = run(JSON.parse(line));
  } catch (error) {
    answer = {crash: String(error).slice(0, 300)};
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
