// `volcano ui`: the page follows a cluster over WebSockets. usage: loopback_test.mjs LINK
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { finish, tests } from './report.mjs';

const require = createRequire(new URL('../../src/ui/page/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const [link] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
const test = tests('page');
const page = await browser.newPage();
const kPatience = 20000 * Number(process.env.PATIENCE || 1);
page.setDefaultTimeout(kPatience);
// Playwright's own waiting for a function would need eval, which the page's policy forbids.
async function until(seen, fact) {
  const end = Date.now() + kPatience;
  while (!(await fact())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${fact}`);
    await seen.waitForTimeout(50);
  }
}

await test('volcano ui opens a session on loopback', async () => {
  await page.goto(link);
  await page.waitForSelector('#content');
});
await test('a change of the cluster appears without a reload', async () => {
  await page.goto(`${base}/ui/#/queues`);
  await page.waitForSelector('.queues >> text=default');
  execFileSync('kubectl', ['apply', '-f', '-'], { input: '{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"appears"},"spec":{"weight":1}}', stdio: ['pipe', 'ignore', 'inherit'] });
  await page.waitForSelector('.queues >> text=appears');
});
await test('many pages of the frame follow each other without waiting for connections', async () => {
  for (const place of ['/', '/jobs', '/machines', '/events', '/objects/v1/secrets', '/jobs', '/']) {
    await page.goto(`${base}/ui/#${place}`);
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
