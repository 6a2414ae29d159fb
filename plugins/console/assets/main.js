// The pages by the first part of the address after "#/", and what they share.
import {element, errorBox, field, link, show} from './dom.js';
import {setToken, token} from './api.js';
import {accessPage, whoAmI} from './access.js';
import {chainOf, chainPage} from './chain.js';
import {chartsPage} from './charts.js';
import {objectPage} from './object.js';
import {objectsPage} from './objects.js';
import {schemaPage, typesPage} from './types.js';

const PAGES = {
  objects: {title: 'Objects', open: objectsPage, first: ['objects', '', 'v1', 'namespaces']},
  types: {title: 'Types', open: (page, parts, context) => parts.length > 2 ? schemaPage(page, parts) : typesPage(page, parts, context)},
  chain: {title: 'Plugins', open: chainPage},
  load: {title: 'Load', open: chartsPage},
  access: {title: 'Access', open: accessPage},
  object: {open: objectPage},
};
let leaving = new AbortController();  // fires when the page is left

function context() {
  const {signal} = leaving;
  const made = {
    signal,
    go: (path) => { location.hash = '#/' + path; },
    state: (text, bad) => { if (!signal.aborted) showState(text, bad); },
    chain: () => chainOf(made),
  };
  return made;
}

function showState(text, bad) {
  const place = document.getElementById('connection');
  place.textContent = text;
  place.classList.toggle('bad', Boolean(bad));
}

async function open() {
  leaving.abort();
  leaving = new AbortController();
  const parts = location.hash.replace(/^#\//, '').split('/').map(decodeURIComponent);
  const name = PAGES[parts[0]] ? parts[0] : 'objects';
  const given = parts.slice(1).length ? parts.slice(1) : (PAGES[name].first || []).slice(1);
  drawPages(name);
  showState('', false);
  const page = document.getElementById('page');
  show(page, element('p', {}, 'Loading …'));
  const mine = context();
  try {
    await PAGES[name].open(page, given, mine);
  } catch (error) {
    if (mine.signal.aborted) return;
    show(page, errorBox(error), error.code === 401 ? element('p', {}, 'The button at the top right takes a bearer token.') : null);
  }
}

function drawPages(current) {
  const shown = Object.entries(PAGES).filter(([, page]) => page.title);
  show(document.getElementById('pages'), shown.map(([name, page]) => {
    const made = link(page.title, ...(page.first || [name]));
    if (name === current) made.setAttribute('aria-current', 'page');
    return made;
  }));
}

async function showIdentity() {
  const button = document.getElementById('identity');
  try {
    button.textContent = (await whoAmI()).username;
  } catch (error) {
    button.textContent = error.code === 401 || error.code === 403 ? 'Sign in' : 'Not connected';
  }
}

function askForToken() {
  const input = element('input', {type: 'password', autocomplete: 'off', value: token()});
  const dialog = element('dialog', {'aria-label': 'Bearer token', onclose: () => {
    if (dialog.returnValue !== 'cancel') { setToken(dialog.returnValue === 'forget' ? '' : input.value.trim()); showIdentity(); open(); }
    dialog.remove();
  }}, element('form', {method: 'dialog'},
    element('p', {}, 'Without a token, requests use the client certificate of the browser or of kubectl proxy. A token is kept for this tab only.'),
    field('Bearer token', input),
    element('div', {class: 'bar'}, element('button', {value: 'use'}, 'Use'), element('button', {value: 'forget'}, 'Forget the token'),
      element('button', {value: 'cancel'}, 'Cancel'))));
  document.body.append(dialog);
  dialog.showModal();
}

document.getElementById('identity').addEventListener('click', askForToken);
addEventListener('hashchange', () => { open(); document.getElementById('page').focus(); });
showIdentity();
open();
