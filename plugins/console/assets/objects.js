// The objects of one type, with live changes.
import {element, errorBox, field, link, show} from './dom.js';
import {follow, resourcePath} from './api.js';
import {Grid} from './grid.js';
import {findType, groupVersion, types} from './types.js';

const KEY = '\u0000';

export async function objectsPage(page, [group = '', version = 'v1', resource = 'pods', ns = ''], context) {
  const all = await types();
  const type = findType(all, group, version, resource);
  if (!type) return show(page, errorBox(new Error(`The server has no type ${resource} in ${group ? group + '/' : ''}${version}.`)));
  let columns = [];
  const grid = new Grid((row) => [
    ...(type.namespaced ? [row.object.metadata.namespace || ''] : []),
    link(row.object.metadata.name, 'object', group, version, resource, row.object.metadata.namespace || '', row.object.metadata.name),
    ...columns.map((column) => shown(row.cells[column.index], column)),
  ]);
  show(page, bar(all, type, ns, grid, context), element('div', {id: 'problem'}), grid.root);
  const key = (row) => `${row.object.metadata.namespace || ''}${KEY}${row.object.metadata.name}`;
  const sink = {
    reset: () => grid.clear(),
    columns: (definitions) => {
      columns = definitions.map((definition, index) => ({...definition, index})).filter((column) => column.priority === 0 && column.name !== 'Name');
      grid.setColumns([...(type.namespaced ? [{name: 'Namespace', width: '12rem'}] : []), {name: 'Name', width: 'minmax(16rem, 2fr)'},
        ...columns.map((column) => ({name: column.name, description: column.description, width: 'minmax(7rem, 1fr)'}))]);
    },
    rows: (rows) => rows.forEach((row) => grid.put(key(row), row)),
    event: (kind, row) => kind === 'DELETED' ? grid.remove(key(row)) : grid.put(key(row), row, true),
    state: context.state,
  };
  try {
    await follow(resourcePath(type, ns), sink, context.signal);
  } catch (error) {
    if (!context.signal.aborted) page.querySelector('#problem').replaceChildren(errorBox(error));
  }
}

function shown(cell, column) {
  if (cell === null || cell === undefined) return '';
  // Ages are computed when a row is sent, so that they stop: the date does not.
  if (column.format === 'date' || column.type === 'date') return String(cell);
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

function bar(all, type, ns, grid, context) {
  const listed = all.filter((each) => each.verbs.includes('list') && each.verbs.includes('watch'));
  const value = (each) => [each.group, each.version, each.resource].map(encodeURIComponent).join('/');
  const select = element('select', {onchange: () => context.go('objects/' + select.value + (ns ? '/' + encodeURIComponent(ns) : ''))},
    listed.map((each) => element('option', {value: value(each), selected: each === type}, `${each.kind} (${groupVersion(each)})`)));
  const input = element('input', {value: ns, placeholder: 'all', size: 16, disabled: !type.namespaced,
    onchange: () => context.go(['objects', type.group, type.version, type.resource, input.value.trim()].map(encodeURIComponent).join('/'))});
  const filter = element('input', {type: 'search', placeholder: 'part of a name', oninput: () => grid.setFilter(filter.value)});
  return element('div', {class: 'bar'}, element('h1', {}, type.kind), field('Type', select), field('Namespace', input), field('Filter', filter), grid.count,
    link('Schema', 'types', type.group, type.version, type.resource));
}
