// Requests, latencies, watches and memory from /metrics, as charts that move and a table for each type.
import {element, errorBox, show, table} from './dom.js';
import {getText} from './api.js';
import {types, groupVersion} from './types.js';

const PERIOD = 3000, POINTS = 60;  // milliseconds between two readings, readings in a chart
const COLORS = ['var(--link)', 'var(--bad)', 'var(--good)'];
const NAMES = new Set(['apiserver_request_total', 'apiserver_request_duration_seconds_sum', 'apiserver_request_duration_seconds_count',
  'apiserver_longrunning_requests', 'apiserver_resource_objects', 'apiserver_storage_objects', 'apiserver_watch_cache_bytes', 'process_resident_memory_bytes',
  'process_cpu_seconds_total', 'apiserver_current_inflight_requests']);
const READS = new Set(['GET', 'LIST']);

// The samples of the families above: [{name, labels, value}].
export function parseMetrics(text) {
  const samples = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) continue;
    const end = line.search(/[{ ]/);
    const name = line.slice(0, end);
    if (!NAMES.has(name)) continue;
    const labels = {};
    const close = line.lastIndexOf('}');
    if (close > 0) for (const [, key, value] of line.slice(end + 1, close).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value;
    samples.push({name, labels, value: Number(line.slice(Math.max(close, end) + 1).trim())});
  }
  return samples;
}

const sum = (samples, name, fits = () => true) => samples.reduce((total, each) => total + (each.name === name && fits(each.labels) ? each.value : 0), 0);

const CHARTS = [
  {title: 'Requests a second', unit: '', lines: ['reads', 'errors (4xx, 5xx)', 'writes'], of: (now, before, seconds) => {
    const rate = (fits) => (sum(now, 'apiserver_request_total', fits) - sum(before, 'apiserver_request_total', fits)) / seconds;
    return [rate((l) => READS.has(l.verb)), rate((l) => l.code >= '400'), rate((l) => !READS.has(l.verb) && l.verb !== 'WATCH')];
  }},
  {title: 'Mean latency', unit: 'ms', lines: ['reads', 'writes'], of: (now, before) => {
    const mean = (fits) => {
      const count = sum(now, 'apiserver_request_duration_seconds_count', fits) - sum(before, 'apiserver_request_duration_seconds_count', fits);
      const time = sum(now, 'apiserver_request_duration_seconds_sum', fits) - sum(before, 'apiserver_request_duration_seconds_sum', fits);
      return count > 0 ? 1000 * time / count : 0;
    };
    return [mean((l) => READS.has(l.verb)), mean((l) => !READS.has(l.verb) && l.verb !== 'WATCH')];
  }},
  {title: 'Open watches and other long requests', unit: '', lines: ['open'], of: (now) => [sum(now, 'apiserver_longrunning_requests')]},
  {title: 'Memory', unit: 'MB', lines: ['process', '', 'objects'], of: (now) => [sum(now, 'process_resident_memory_bytes') / 1e6, 0,
    sum(now, 'apiserver_watch_cache_bytes') / 1e6]},
  {title: 'Processor', unit: '%', lines: ['of one core'], of: (now, before, seconds) =>
    [100 * (sum(now, 'process_cpu_seconds_total') - sum(before, 'process_cpu_seconds_total')) / seconds]},
];

class Chart {
  constructor({title, unit, lines, of}) {
    this.unit = unit;
    this.of = of;
    this.history = lines.map(() => []);
    this.value = element('span', {class: 'value'}, '–');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', `0 0 ${POINTS - 1} 100`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    this.paths = lines.map((_, i) => {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      path.style.stroke = COLORS[i];
      svg.append(path);
      return path;
    });
    const keys = lines.map((name, i) => name && [keyMark(COLORS[i]), name]).filter(Boolean);
    this.root = element('section', {class: 'chart', 'aria-label': title}, element('div', {}, title, keys.length > 1 ? keys : null), this.value, svg);
  }

  add(values) {
    values.forEach((value, i) => { this.history[i].push(value); if (this.history[i].length > POINTS) this.history[i].shift(); });
    const most = Math.max(1e-9, ...this.history.flat());
    this.history.forEach((points, i) => this.paths[i].setAttribute('d', points.map((value, x) =>
      `${x ? 'L' : 'M'}${x + POINTS - points.length} ${(98 - 95 * value / most).toFixed(1)}`).join('')));
    this.value.textContent = values.filter((_, i) => this.paths[i] && (i === 0 || values[i])).map((value) => `${value.toFixed(value < 10 ? 2 : 0)} ${this.unit}`)
      .join(' / ');
  }
}

function keyMark(color) {
  const mark = element('span', {class: 'key'});
  mark.style.background = color;
  return mark;
}

export async function chartsPage(page, _parts, context) {
  const [all, chain] = await Promise.all([types(), context.chain()]);
  const plugins = new Map(chain.flatMap((plugin) => (plugin.groupVersions || []).map((each) => [each, plugin.name])));
  const charts = CHARTS.map((each) => new Chart(each));
  const holder = element('div');
  show(page, element('h1', {}, 'Load'), element('div', {class: 'charts'}, charts.map((chart) => chart.root)),
    element('h2', {}, 'By type'), holder);
  let before = null, at = 0;
  while (!context.signal.aborted) {
    try {
      const now = parseMetrics(await getText('/metrics', {accept: 'text/plain', signal: context.signal}));
      const time = performance.now();
      if (before) {
        charts.forEach((chart) => chart.add(chart.of(now, before, (time - at) / 1000)));
        show(holder, typeTable(all, plugins, now, before, (time - at) / 1000));
      }
      [before, at] = [now, time];
      context.state('live', false);
    } catch (error) {
      if (context.signal.aborted) return;
      if (error.code === 403 || error.code === 401) return show(page, errorBox(error));
      before = null;
      context.state(error.message, true);
    }
    await new Promise((resolve) => setTimeout(resolve, PERIOD));
  }
}

const COLUMNS = [{name: 'Type'}, {name: 'Plugin'}, {name: 'Requests/s', number: true}, {name: 'Mean ms', number: true}, {name: 'Watches', number: true},
  {name: 'Objects', number: true}, {name: 'MB', number: true}];

function typeTable(all, plugins, now, before, seconds) {
  const rows = all.filter((type) => type.verbs.includes('list') && type.preferred).map((type) => {
    const fits = (labels) => labels.resource === type.resource && (labels.group || '') === type.group;
    const rise = (name) => sum(now, name, fits) - sum(before, name, fits);
    const requests = rise('apiserver_request_duration_seconds_count');
    const full = type.group ? `${type.resource}.${type.group}` : type.resource;
    const bytes = sum(now, 'apiserver_watch_cache_bytes', (labels) => Object.values(labels).some((value) => prefixIs(value, type)));
    return {type, requests: requests / seconds, mean: requests > 0 ? 1000 * rise('apiserver_request_duration_seconds_sum') / requests : 0,
      watches: sum(now, 'apiserver_longrunning_requests', fits),
      objects: sum(now, 'apiserver_resource_objects', fits) || sum(now, 'apiserver_storage_objects', (labels) => labels.resource === full), bytes};
  });
  rows.sort((a, b) => b.requests - a.requests || b.bytes - a.bytes || b.objects - a.objects);
  return table(COLUMNS, rows.filter((row) => row.requests || row.watches || row.objects || row.bytes).map((row) => [
    `${row.type.kind} (${groupVersion(row.type)})`, plugins.get(groupVersion(row.type)) || '', row.requests.toFixed(1), row.mean.toFixed(2),
    String(row.watches), String(row.objects), (row.bytes / 1e6).toFixed(2)]));
}

// "/registry/pods/" is the prefix of pods, "/registry/widgets.example.com/widgets/" or ".../example.com/widgets/" that of custom types.
function prefixIs(prefix, type) {
  const parts = prefix.split('/').filter(Boolean);
  return parts[parts.length - 1] === type.resource && (parts.length === 2 || !type.group || parts.includes(type.group));
}
