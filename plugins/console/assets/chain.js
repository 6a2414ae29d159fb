// The delegation chain: the plugins in their order, with what each registered and whether its health checks pass.
import {element, show} from './dom.js';
import {getJson, getText} from './api.js';

export async function chainPage(page, _parts, context) {
  const [chain, health, plugins] = await Promise.all([getJson('/debug/chain'), checks(), pluginObjects()]);
  show(page, element('h1', {}, 'Delegation chain'),
    element('p', {class: 'soft'}, 'A request goes to the first plugin of this list that serves its path.'),
    chain.chain.map((plugin, i) => card(plugin, i + 1, health, plugins.get(plugin.name))),
    element('h2', {}, 'Readiness'), element('p', {}, [...health].map(([name, ok]) =>
      element('span', {class: ok ? 'allowed' : 'denied'}, `${ok ? '✓' : '✗'} ${name}  `))));
  context.state('', false);
}

// Name → whether it passes, from /readyz, whose text lists each check.
async function checks() {
  let text;
  try {
    text = await getText('/readyz?verbose', {accept: 'text/plain'});
  } catch (error) {
    text = error.message;
  }
  return new Map([...text.matchAll(/^\[([+-])\](\S+)/gm)].map(([, sign, name]) => [name, sign === '+']));
}

// Name → Plugin object; empty if the server has no such type or the viewer may not list it.
async function pluginObjects() {
  try {
    const list = await getJson('/apis/plugins.backplane.dev/v1alpha1/plugins');
    return new Map(list.items.map((plugin) => [plugin.metadata.name, plugin]));
  } catch {
    return new Map();
  }
}

function card(plugin, place, health, object) {
  const version = object && object.status && object.status.version;
  const of = (member) => plugin[member] || [];  // the last entry, which answers 404, has a name only
  const rows = [
    ['Versions', of('groupVersions')], ['Paths', of('paths')],
    ['Hooks', [...of('postStartHooks'), ...of('preShutdownHooks').map((hook) => `${hook} (at shutdown)`)]],
    ['Checks', of('healthChecks').map((check) => `${check}${health.get(check) === false ? ' (fails)' : ''}`)],
    ['Waits for', of('muxAndDiscoverySignals').filter((signal) => !signal.fired).map((signal) => signal.name)],
  ].filter(([, values]) => values.length > 0);
  return element('section', {class: 'card', 'aria-label': plugin.name},
    element('strong', {}, `${place}. ${plugin.name}`), version ? element('span', {class: 'soft'}, ` ${version}`) : null,
    rows.length === 0 ? element('span', {class: 'soft'}, ' registers no paths') : null,
    element('dl', {}, rows.flatMap(([name, values]) => [element('dt', {}, name), element('dd', {}, values.join(', '))])));
}

export function chainOf(context) {
  return getJson('/debug/chain').then((document) => document.chain, (error) => {
    context.state(error.message, true);
    return [];
  });
}

