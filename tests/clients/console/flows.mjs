// The console in a browser. Arguments: the server's URL, PEM files with the administrator's certificate and key, a token of a user without rights,
// the browser's program, a folder for screenshots. Prints "ok NAME" for each flow; "do NAME" asks the test to act on the server, whose answer is
// a line on the standard input.
import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {chromium} from 'playwright-core';

const [, , server, certPath, keyPath, token, executablePath, folder] = process.argv;
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const answers = createInterface({input: process.stdin})[Symbol.asyncIterator]();
const console_ = `${server}/console/`;
const HTML = '<img src=x onerror="window.wasRun = true">';

const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
const context = await browser.newContext({ignoreHTTPSErrors: true, viewport: {width: 1300, height: 900},
  clientCertificates: [{origin: server, certPath, keyPath}]});
const page = await context.newPage();
page.setDefaultTimeout(60000);
let other;  // the page of a user without rights
const thrown = [];
page.on('pageerror', (error) => thrown.push(error.message));

function check(holds, what) {
  if (!holds) throw new Error(`does not hold: ${what}`);
}

async function act(name) {
  process.stdout.write(`do ${name}\n`);
  await answers.next();
}

async function open(hash, selector) {
  await page.goto(console_ + hash);
  await page.waitForSelector(selector);
}

async function accessible(name) {
  await page.screenshot({path: `${folder}/${name}.png`});
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => window.axe.run({resultTypes: ['violations']}));
  const serious = violations.filter((each) => ['serious', 'critical'].includes(each.impact));
  check(serious.length === 0, `${name}: ${JSON.stringify(serious.map((each) => [each.id, each.nodes[0].html.slice(0, 120)]))}`);
}

const flows = {
  async chain() {
    await open('#/chain', '.card');
    check((await page.locator('.card', {hasText: 'apps/v1'}).textContent()).includes('apps'), 'apps/v1 is shown with its plugin');
    await accessible('chain');
  },
  async schema() {
    await open('#/types', 'table');
    await accessible('types');
    await page.click('a:text-is("Deployment")');
    await page.click('summary:has-text("spec")');
    await page.waitForSelector('code:text-is("replicas")');
    await accessible('schema');
  },
  async liveList() {
    await open('#/objects//v1/configmaps/flows', '.line');
    await act('create live');
    await page.waitForSelector('.line a:text-is("live")');
    await act('delete live');
    await page.waitForSelector('.line a:text-is("live")', {state: 'detached'});
    await accessible('objects');
  },
  async editWithConflict() {
    await open('#/object//v1/configmaps/flows/edited', 'textarea');
    await page.waitForFunction(() => document.querySelector('textarea').value.includes('key: first'));
    const text = await page.locator('textarea').inputValue();
    check(!text.includes('managedFields'), 'managed fields are left out');
    await page.locator('textarea').fill(text.replace('key: first', 'key: second'));
    await page.click('button:text-is("Apply")');
    await page.waitForSelector('.error:has-text(".data.key")');
    await accessible('conflict');
    await page.click('button:has-text("own these fields")');
    await page.waitForSelector('text=Applied.');
    await act('read edited=second');
  },
  async changedUnderTheEditor() {
    await page.locator('textarea').fill('my text');
    await act('change edited');
    await page.waitForSelector('text=has changed on the server');
    check(await page.locator('textarea').inputValue() === 'my text', 'an edited text is kept');
  },
  async textIsNotHtml() {
    await open('#/object//v1/configmaps/flows/html', 'textarea');
    await page.waitForFunction((html) => document.querySelector('textarea').value.includes(html), HTML);
    await page.waitForSelector(`td:has-text("${HTML.replaceAll('"', '\\"')}")`);
    check(await page.evaluate(() => window.wasRun) === undefined, 'HTML in an object was run');
    check(await page.locator('main img').count() === 0, 'HTML in an object became an element');
  },
  async tenThousandObjects() {
    await open('#/objects//v1/configmaps/many', '.line');
    await page.waitForSelector('text="10000 objects"');
    check(await page.locator('.line').count() < 120, 'lines out of view are elements');
    await page.locator('.grid').evaluate((grid) => { grid.scrollTop = grid.scrollHeight; });
    await page.waitForSelector('.line a:text-is("m9999")');
    await page.fill('input[type=search]', 'm1234');
    await page.waitForSelector('text="1 of 10000 objects"');
  },
  async load() {
    await open('#/load', '.chart');
    await page.waitForFunction(() => [...document.querySelectorAll('.chart path')].some((path) => (path.getAttribute('d') || '').includes('L')));
    check((await page.locator('table').textContent()).includes('Namespace (v1)'), 'namespaces are in the table');
    await accessible('load');
  },
  async access() {
    await open('#/access', 'table');
    await page.fill('label:has-text("User") input', 'nobody@example.com');
    await page.click('button:text-is("Ask")');
    await page.waitForSelector('.denied:text-is("no")');
    await accessible('access');
  },
  async serverRestart() {
    await open('#/objects//v1/configmaps/flows', '.line');
    await act('restart');
    await act('create after');
    await page.waitForSelector('.line a:text-is("after")');
    await page.waitForSelector('#connection:text-is("live")');
  },
  // Each connection of an unauthenticated client is closed after a request: a file that was asked for meanwhile did not come, and the page stayed
  // empty.
  async unauthenticated() {
    for (let i = 0; i < 12; ++i) {
      other = await (await browser.newContext({ignoreHTTPSErrors: true})).newPage();
      other.setDefaultTimeout(60000);
      await other.goto(console_ + '#/objects//v1/secrets/flows');
      await other.waitForSelector('.error');
      await other.context().close();
    }
  },
  async forbidden() {
    other = await (await browser.newContext({ignoreHTTPSErrors: true})).newPage();
    other.setDefaultTimeout(60000);
    await other.goto(console_ + '#/objects//v1/secrets/flows');
    await other.waitForSelector('.error');
    await other.click('#identity');
    await other.fill('dialog input', token);
    await other.click('dialog button:text-is("Use")');
    await other.waitForSelector('#identity:has-text("system:serviceaccount:flows:default")');
    await other.waitForSelector('.error:has-text("secrets is forbidden")');
  },
};

for (const [name, flow] of Object.entries(flows)) {
  try {
    await flow();
    check(thrown.length === 0, `no exception, but ${thrown.join('; ')}`);
    process.stdout.write(`ok ${name}\n`);
  } catch (error) {
    await page.screenshot({path: `${folder}/failed-${name}.png`});
    const seen = other ? `; ${other.url()} shows: ${await other.locator('body').innerText()}` : '';
    process.stdout.write(`failed ${name}: ${(error.message + seen).replaceAll('\n', ' ').slice(0, 1200)}\n`);
    thrown.length = 0;
  }
}
await browser.close();
process.exit(0);
