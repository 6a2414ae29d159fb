// One object as YAML: shown, edited, applied by server-side apply with its conflicts, deleted; and its events.
import {confirmed, element, errorBox, field, link, show, table} from './dom.js';
import {follow, getJson, getText, resourcePath, send, withQuery} from './api.js';
import {findType, types} from './types.js';

const YAML = 'application/yaml', APPLY = 'application/apply-patch+yaml', MANAGER = 'backplane-console';

// YAML as the server prints it, without metadata.managedFields, which an apply must not have.
export function withoutManagedFields(yaml) {
  const kept = [];
  let inMetadata = false, skipping = false;
  for (const line of yaml.split('\n')) {
    if (/^\S/.test(line)) inMetadata = line.startsWith('metadata:');
    if (skipping && /^( {2}-| {3,})/.test(line)) continue;
    skipping = inMetadata && /^ {2}managedFields:/.test(line);
    if (!skipping) kept.push(line);
  }
  return kept.join('\n');
}

export async function objectPage(page, [group, version, resource, ns, name], context) {
  const type = findType(await types(), group, version, resource);
  if (!type) return show(page, errorBox(new Error(`The server has no type ${resource} in ${group}/${version}.`)));
  const path = resourcePath(type, ns, name);
  const text = element('textarea', {class: 'yaml', spellcheck: 'false', 'aria-label': `${type.kind} ${name} as YAML`});
  const answer = element('div', {'aria-live': 'polite'}), notice = element('div', {'aria-live': 'polite'});
  let stored = '';

  async function load() {
    stored = withoutManagedFields(await getText(path, {accept: YAML, signal: context.signal}));
    text.value = stored;
    show(notice);
  }

  async function apply(parameters) {
    show(answer, 'Applying …');
    try {
      await send(withQuery(path, {fieldManager: MANAGER, ...parameters}), {method: 'PATCH', type: APPLY, body: text.value});
      show(answer, element('div', {class: 'notice'}, parameters.dryRun ? 'The server would accept this. Nothing was changed.' : 'Applied.'));
      if (!parameters.dryRun) await load();
    } catch (error) {
      show(answer, errorBox(error), error.code === 409 && error.causes.length > 0
        ? element('button', {type: 'button', onclick: () => apply({...parameters, force: true})}, 'Apply, and own these fields') : null);
    }
  }

  async function remove() {
    if (!await confirmed(`Delete ${type.kind} ${ns ? ns + '/' : ''}${name}?`, 'Delete')) return;
    try {
      await send(path, {method: 'DELETE'});
      show(answer, element('div', {class: 'notice'}, 'The server accepted the deletion.'));
    } catch (error) {
      show(answer, errorBox(error));
    }
  }

  const can = (verb) => type.verbs.includes(verb);
  show(page,
    element('h1', {}, `${type.kind} ${name} `, element('span', {class: 'soft'}, ns)),
    element('div', {class: 'bar'},
      link('All of this type', 'objects', group, version, resource, ns), link('Schema', 'types', group, version, resource),
      element('button', {type: 'button', onclick: () => load().catch((error) => show(answer, errorBox(error)))}, 'Reload'),
      element('button', {type: 'button', disabled: !can('patch'), onclick: () => apply({})}, 'Apply'),
      element('button', {type: 'button', disabled: !can('patch'), onclick: () => apply({dryRun: 'All'})}, 'Dry run'),
      element('button', {type: 'button', disabled: !can('delete'), onclick: remove}, 'Delete')),
    answer, notice, text, element('h2', {}, 'Events'), element('div', {id: 'events'}));
  try {
    await load();
    showEvents(page.querySelector('#events'), ns, name, type.kind);
    if (can('watch')) await watchObject();
  } catch (error) {
    if (!context.signal.aborted) show(answer, errorBox(error));
  }

  // An object that was not edited follows the server; the text of one that was edited is not touched.
  async function watchObject() {
    const changed = () => text.value === stored
      ? load().catch((error) => show(answer, errorBox(error)))
      : show(notice, element('div', {class: 'notice'}, 'This object has changed on the server since it was loaded. "Reload" drops your text.'));
    await follow(withQuery(resourcePath(type, ns), {fieldSelector: `metadata.name=${name}`}), {
      reset() {}, columns() {}, state: context.state,
      rows: (rows) => { if (rows.length === 0) gone(); },
      event: (kind) => kind === 'DELETED' ? gone() : changed(),
    }, context.signal);
  }
  function gone() { show(notice, element('div', {class: 'notice'}, 'This object has been deleted.')); }
}

async function showEvents(holder, ns, name, kind) {
  const path = ns ? `/api/v1/namespaces/${encodeURIComponent(ns)}/events` : '/api/v1/events';
  try {
    const list = await getJson(withQuery(path, {limit: 100, fieldSelector: `involvedObject.name=${name},involvedObject.kind=${kind}`}));
    const rows = list.items.map((event) => [event.lastTimestamp || event.eventTime || event.metadata.creationTimestamp, event.type || '', event.reason || '',
      event.message || '', String(event.count || 1)]);
    show(holder, rows.length ? table([{name: 'Last seen'}, {name: 'Type'}, {name: 'Reason'}, {name: 'Message'}, {name: 'Count', number: true}], rows) : 'None.');
  } catch (error) {
    show(holder, errorBox(error));
  }
}
