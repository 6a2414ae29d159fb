// The types that the server has, from aggregated discovery, and their schemas from OpenAPI v3.
import {element, errorBox, link, show, table} from './dom.js';
import {getJson} from './api.js';

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
let known = null;

// All resources: {group, version, resource, kind, namespaced, verbs, preferred}. Read once, and again with `fresh`.
export async function types(fresh = false) {
  if (known === null || fresh) {
    const documents = await Promise.all(['/api', '/apis'].map((path) => getJson(path, {accept: DISCOVERY})));
    known = documents.flatMap((document) => document.items.flatMap(resourcesOf));
  }
  return known;
}

function resourcesOf(group) {
  return group.versions.flatMap((version, index) => (version.resources || []).map((resource) => ({
    group: group.metadata.name || '', version: version.version, preferred: index === 0, resource: resource.resource,
    kind: resource.responseKind ? resource.responseKind.kind : '', namespaced: resource.scope === 'Namespaced', verbs: resource.verbs || [],
  })));
}

export function findType(all, group, version, resource) {
  return all.find((type) => type.group === group && type.version === version && type.resource === resource);
}

export function groupVersion(type) { return type.group ? `${type.group}/${type.version}` : type.version; }

export async function typesPage(page, _parts, context) {
  const [all, chain] = await Promise.all([types(true), context.chain()]);
  const plugins = new Map(chain.flatMap((plugin) => (plugin.groupVersions || []).map((each) => [each, plugin.name])));
  const rows = all.map((type) => [
    link(type.kind || type.resource, 'types', type.group, type.version, type.resource),
    type.verbs.includes('list') ? link(type.resource, 'objects', type.group, type.version, type.resource) : type.resource,
    groupVersion(type), type.namespaced ? 'namespaced' : 'cluster', type.verbs.join(' '), plugins.get(groupVersion(type)) || ''
  ]);
  show(page, element('h1', {}, 'Types'),
    table(['Kind', 'Resource', 'Version', 'Scope', 'Verbs', 'Plugin'].map((name) => ({name})), rows));
}

export async function schemaPage(page, [group, version, resource]) {
  const type = findType(await types(), group, version, resource);
  if (!type) return show(page, errorBox(new Error(`There is no type ${resource} in ${group}/${version}.`)));
  const document = await getJson(group ? `/openapi/v3/apis/${group}/${version}` : `/openapi/v3/api/${version}`);
  const schemas = (document.components && document.components.schemas) || {};
  const is = (each) => each.group === group && each.version === version && each.kind === type.kind;
  const found = Object.values(schemas).find((schema) => (schema['x-kubernetes-group-version-kind'] || []).some(is));
  show(page, element('h1', {}, `${type.kind} `, element('span', {class: 'soft'}, groupVersion(type))),
    type.verbs.includes('list') ? element('p', {}, link('Objects', 'objects', group, version, resource)) : null,
    found ? element('div', {class: 'tree'}, members(found, schemas)) : element('p', {}, 'The server publishes no schema of this type.'));
}

// A schema without its reference: `allOf` with one reference is how OpenAPI adds a description or default to one.
function resolved(schema, schemas) {
  const reference = schema.$ref || (schema.allOf && schema.allOf.length === 1 && schema.allOf[0].$ref);
  return reference ? {...schemas[reference.split('/').pop()], ...(schema.description && {description: schema.description})} : schema;
}

function typeName(schema, schemas) {
  const whole = resolved(schema, schemas);
  if (whole.type === 'array') return `[]${typeName(whole.items || {}, schemas)}`;
  if (whole.additionalProperties) return `map[string]${typeName(whole.additionalProperties, schemas)}`;
  return whole.format || whole.type || 'any';
}

function inner(schema, schemas) {
  let whole = resolved(schema, schemas);
  for (let i = 0; i < 4 && !whole.properties; ++i) {
    const next = whole.items || (typeof whole.additionalProperties === 'object' && whole.additionalProperties);
    if (!next) break;
    whole = resolved(next, schemas);
  }
  return whole;
}

function members(schema, schemas) {
  const required = new Set(schema.required || []);
  return Object.entries(schema.properties || {}).map(([name, property]) => {
    const label = [element('code', {}, name), ' ', element('span', {class: 'soft'}, typeName(property, schemas), required.has(name) ? ', required' : '')];
    const text = resolved(property, schemas).description || property.description || '';
    const below = inner(property, schemas);
    if (!below.properties) return element('div', {class: 'leaf', title: text}, label);
    const details = element('details', {ontoggle: () => {
      if (details.open && details.childElementCount === 1) details.append(...members(below, schemas));
    }}, element('summary', {title: text}, label));
    return details;
  });
}
