// A hostile notebook's page in a real browser. usage: notebook_test.mjs SERVER LINK
// LINK opens a session of somebody who may open the notebooks of ann and of bob.
import { start } from './browser.mjs';
import { finish, tests } from './report.mjs';

const [server, link] = process.argv.slice(2);
const browser = await start();
const context = await browser.newContext({ ignoreHTTPSErrors: true });
const test = tests("notebook's page");
const same = (saw, wanted) => {
  if (JSON.stringify(saw) !== JSON.stringify(wanted)) throw new Error(`saw ${JSON.stringify(saw)}, not ${JSON.stringify(wanted)}`);
};
const ann = await context.newPage();
await ann.goto(`${link}&to=/notebook/ann/one/`);
const home = new URL(ann.url()).origin;
const bob = await context.newPage();
await bob.goto(`${server}/notebook/bob/one/`);
const bobs = new URL(bob.url()).origin;

// What a page sees of an address: a status, or "nothing".
const fetched = (page, url, options = {}) =>
  page.evaluate(([u, o]) => fetch(u, { credentials: 'include', ...o }).then((a) => (a.type === 'opaque' ? 'nothing' : a.status), () => 'nothing'), [url, options]);
const streamed = (page, url) =>
  page.evaluate((u) => new Promise((done) => {
    const socket = new WebSocket(u);
    socket.onerror = () => done('nothing');
    socket.onopen = () => socket.send('hello');
    socket.onmessage = (event) => done(event.data);
  }), url.replace('https:', 'wss:'));

await test('works: it loads, asks its server, and has streams', async () => {
  same(await ann.textContent('h1'), 'notebook of /notebook/ann/one');
  same(await fetched(ann, '/notebook/ann/one/headers'), 200);
  same(await fetched(ann, '/notebook/ann/one/', { method: 'POST', body: 'x' }), 200);
  same(await streamed(ann, `${home}/notebook/ann/one/ws`), 'echo hello');
});
await test('does not see the session', async () => {
  same((await ann.evaluate(() => document.cookie)).includes('volcano'), false);
  same((await ann.evaluate(() => fetch('headers').then((a) => a.text()))).includes('volcano-'), false);
});
await test('reaches neither the API nor the page', async () => {
  for (const path of ['/api/v1/namespaces/ann/secrets', '/ui/session', '/ui/notebook?to=/notebook/ann/one/', '/notebook/ann/one/'])
    for (const mode of ['cors', 'no-cors']) same([path, await fetched(ann, server + path, { mode })], [path, 'nothing']);
  same(await fetched(ann, `${server}/api/v1/namespaces/ann/configmaps`, { method: 'POST', body: '{}', mode: 'no-cors' }), 'nothing');
  same(await streamed(ann, `${server}/ui/stream?path=/api`), 'nothing');
});
await test("reaches no other namespace's notebook", async () => {
  for (const mode of ['cors', 'no-cors']) same(await fetched(bob, `${home}/notebook/ann/one/headers`, { mode }), 'nothing');
  same(await streamed(bob, `${home}/notebook/ann/one/ws`), 'nothing');
  const [opened] = await Promise.all([context.waitForEvent('page'), bob.evaluate((u) => { window.other = window.open(u); }, `${home}/notebook/ann/one/`)]);
  await opened.waitForLoadState();
  same(await bob.evaluate(() => { try { return window.other.document.title; } catch { return 'nothing'; } }), 'nothing');
});
await test('shows neither the page nor another notebook in a frame', async () => {
  for (const url of [`${server}/ui/`, `${home}/notebook/ann/one/`, `${server}/notebook/ann/one/`]) {
    await bob.evaluate((u) => new Promise((done) => {
      const frame = document.createElement('iframe');
      frame.src = u;
      frame.onload = done;
      document.body.append(frame);
    }), url);
    for (const frame of bob.frames().slice(1)) same((await frame.content().catch(() => '')).includes('notebook of'), false);
  }
});
await test('registers no service worker and writes no cookie of ours', async () => {
  same(await ann.evaluate(() => navigator.serviceWorker.register('/notebook/ann/one/w.js').then(() => 'one', () => 'nothing')), 'nothing');
  const before = (await context.cookies(server)).filter((one) => one.name.includes('volcano')).map((one) => [one.name, one.value]);
  await ann.evaluate((names) => {
    for (const name of names) for (const path of ['/', '/ui/']) document.cookie = `${name}=evil; Secure; Path=${path}`;
  }, [...before.map(([name]) => name), '__Host-Http-volcano-page-123456789012']);
  await fetched(ann, '/notebook/ann/one/cookies');
  same((await context.cookies(`${server}/ui/`)).filter((one) => one.name.includes('volcano')).map((one) => [one.name, one.value]), before);
  await ann.goto(`${server}/ui/`);
  same(await fetched(ann, '/ui/session'), 200);
});
await browser.close();
finish();
