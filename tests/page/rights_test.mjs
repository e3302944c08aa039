// The page of a user who may see little, on a stock API server (tests/stock/page_test.sh). usage: rights_test.mjs LINK USER
// The user jane may read and write the jobs of the namespace team, the user ned nothing.
import { createRequire } from 'node:module';
import { expect, finish, tests } from './report.mjs';

const require = createRequire(new URL('../../src/ui/page/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const [link, user] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
const test = tests('stock:');
const context = await browser.newContext();
const kPatience = 20000 * Number(process.env.PATIENCE || 1);
context.setDefaultTimeout(kPatience);
const refusal = '#content >> text=/You may not see|cannot list resource/';
const thrown = [];
// Each place is a page of its own, so that no text is that of the place before.
async function opened(address) {
  const page = await context.newPage();
  page.on('pageerror', (error) => thrown.push(error.message));
  await page.goto(address);
  await page.waitForSelector('#content');
  return page;
}

await test(`the page opens for ${user}`, async () => (await opened(link)).close());
for (const place of ['/', '/machines', '/queues', '/jobs', '/events', '/objects/v1/secrets'])
  await test(`${user} is told that ${place} may not be seen`, async () => {
    const page = await opened(`${base}/ui/#${place}`);
    await page.waitForSelector(refusal);
    let text = await page.textContent('#content');
    for (const end = Date.now() + kPatience; /Loading/.test(text) && Date.now() < end; text = await page.textContent('#content')) await page.waitForTimeout(50);
    expect(!/No job|No event|No object|Nothing|Loading|0Running/.test(text), `an empty list is shown beside: ${text.slice(-300)}`);
    await page.close();
  });
await test(`${user} sees the jobs of the namespace as RBAC says`, async () => {
  const page = await opened(`${base}/ui/#/jobs`);
  await page.waitForSelector(refusal);
  await page.getByRole('textbox', { name: 'Namespace' }).fill('team');
  await page.keyboard.press('Tab');
  if (user === 'jane') {
    await page.waitForSelector('.scroll .row >> text=first');
    expect(!/jobs.batch.volcano.sh is forbidden/.test(await page.textContent('#content')), 'her jobs are called forbidden');
  } else {
    await page.waitForSelector('#content >> text=/You may not see|in the namespace .team/');
    expect(!(await page.$('.scroll .row >> text=first')), 'the job is seen');
  }
});
await test(`nothing in the page of ${user} is thrown`, async () => expect(thrown.length === 0, thrown.join('; ')));
await browser.close();
finish();
