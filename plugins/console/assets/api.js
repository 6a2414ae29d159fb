// Calls of the API with the viewer's rights: the browser's client certificate, or a bearer token that is kept for this tab only.

const TOKEN = 'backplane-token';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const SENDS = 4, PAUSE = 100;  // of a request whose connection breaks, milliseconds
const RETRY_FIRST = 1000, RETRY_MOST = 10000;  // milliseconds

export function token() { return sessionStorage.getItem(TOKEN) || ''; }
export function setToken(value) { value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN); }

// A metav1.Status, or a failure of the connection (code 0).
export class ApiError extends Error {
  constructor(code, status, text) {
    super(status.message || text || `HTTP ${code}`);
    this.code = code;
    this.reason = status.reason || '';
    this.causes = (status.details && status.details.causes) || [];
  }
}

// `again`: the request changes nothing, so that it is sent again if its connection is closed (the server does so with unauthenticated clients).
export async function send(path, {method = 'GET', accept = 'application/json', type, body, signal, again = method === 'GET'} = {}) {
  const headers = {Accept: accept};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (type) headers['Content-Type'] = type;
  for (let sends = again ? SENDS : 1;;) {
    let response;
    try {
      response = await fetch(path, {method, headers, body, signal, cache: 'no-store'});
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      if (--sends === 0) throw new ApiError(0, {message: `The server cannot be reached: ${error.message}`});
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      continue;
    }
    if (!response.ok) throw await readError(response);
    return response;
  }
}

async function readError(response) {
  const text = await response.text();
  try {
    return new ApiError(response.status, JSON.parse(text));
  } catch {
    return new ApiError(response.status, {}, text.trim());
  }
}

export async function getJson(path, options) { return (await send(path, options)).json(); }
export async function getText(path, options) { return (await send(path, options)).text(); }
// Creates a review, which is not stored.
export async function createReview(path, object) {
  return (await send(path, {method: 'POST', type: 'application/json', body: JSON.stringify(object), again: true})).json();
}

// The JSON values of a stream, one a line.
export async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part);
  }
}

export function resourcePath(type, ns, name) {
  const root = type.group ? `/apis/${type.group}/${type.version}` : `/api/${type.version}`;
  const scope = type.namespaced && ns ? `/namespaces/${encodeURIComponent(ns)}` : '';
  return `${root}${scope}/${type.resource}${name ? '/' + encodeURIComponent(name) : ''}`;
}

// Adds parameters to a path that may have some.
export function withQuery(path, parameters) {
  const query = new URLSearchParams(parameters).toString();
  return query ? path + (path.includes('?') ? '&' : '?') + query : path;
}

// Lists a collection as a Table, page by page, then follows its changes until `signal` fires. After an interruption it goes on with a watch, or
// with a new list if the server no longer has the changes since. `sink`: reset(), columns(definitions), rows(rows), event(type, row),
// state(text, bad).
export async function follow(path, sink, signal, pageSize = 500) {
  let wait = RETRY_FIRST, version = null;
  while (!signal.aborted) {
    try {
      if (version === null) version = await listPages(path, sink, signal, pageSize);
      wait = RETRY_FIRST;
      version = await watchFrom(path, version, sink, signal);
    } catch (error) {
      if (signal.aborted || error.name === 'AbortError') return;
      if (error.code === 401 || error.code === 403 || error.code === 404 || error.code === 405 || error.code === 406) throw error;
      if (error.code === 410) version = null;
      sink.state(error.code ? error.message : 'not connected, trying again', true);
      await pause(wait, signal);
      wait = Math.min(2 * wait, RETRY_MOST);
      if (error.code === 0 || error.code >= 500) version = null;
    }
  }
}

async function listPages(path, sink, signal, pageSize) {
  sink.reset();
  let next = '', version = '';
  do {
    const page = await getJson(withQuery(path, {limit: pageSize, ...(next && {continue: next})}), {accept: TABLE, signal});
    if (!next) sink.columns(page.columnDefinitions || []);
    sink.rows(page.rows || []);
    next = page.metadata.continue || '';
    version = page.metadata.resourceVersion;
  } while (next && !signal.aborted);
  sink.state('live', false);
  return version;
}

async function watchFrom(path, version, sink, signal) {
  const response = await send(withQuery(path, {watch: 1, allowWatchBookmarks: true, resourceVersion: version}), {accept: TABLE, signal});
  sink.state('live', false);
  let last = version;
  try {
    for await (const event of lines(response)) {
      if (event.type === 'ERROR') throw new ApiError(event.object.code || 500, event.object);
      for (const row of event.object.rows || []) {
        last = row.object.metadata.resourceVersion || last;
        if (event.type !== 'BOOKMARK') sink.event(event.type, row);
      }
    }
  } catch (error) {
    if (error instanceof ApiError || error.name === 'AbortError') throw error;
    // The connection broke: the watch resumes after the last event.
  }
  return last;
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, {once: true});
  });
}
