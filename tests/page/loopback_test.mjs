// `volcano ui`: the page follows a cluster over WebSockets. usage: loopback_test.mjs LINK
import { execFileSync } from 'node:child_process';
import { kPatience, show, start, until } from './browser.mjs';
import { finish, tests } from './report.mjs';

const [link] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await start();
const test = tests('page');
const page = await browser.newPage();
page.setDefaultTimeout(kPatience);

await test('volcano ui opens a session on loopback', async () => {
  await page.goto(link);
  await page.waitForSelector('#content');
});
await test('a change of the cluster appears without a reload', async () => {
  await show(page, '/queues');
  await page.waitForSelector('.queues >> text=default');
  execFileSync('kubectl', ['apply', '-f', '-'], { input: '{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"appears"},"spec":{"weight":1}}', stdio: ['pipe', 'ignore', 'inherit'] });
  await page.waitForSelector('.queues >> text=appears');
});
await test('many pages of the frame follow each other without waiting for connections', async () => {
  for (const place of ['/', '/jobs', '/machines', '/events', '/objects/v1/secrets', '/jobs', '/']) {
    await show(page, `${place}`);
    await until(page, async () => !/Loading…/.test(await page.textContent('#content')));
  }
});
await test('another site reads nothing with the cookie', async () => {
  const cookie = (await page.context().cookies()).map((one) => `${one.name}=${one.value}`).join('; ');
  for (const headers of [{ Cookie: cookie, Origin: 'http://evil.example' }, { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' }, {}]) {
    const answer = await fetch(`${base}/api/v1/secrets`, { headers });
    if (answer.status !== 403 && answer.status !== 401) throw new Error(`${JSON.stringify(Object.keys(headers))}: ${answer.status}`);
  }
});
await browser.close();
finish();
