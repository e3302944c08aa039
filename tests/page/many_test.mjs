// The page with ten thousand jobs: it holds the rows that are seen, and finds, orders and reaches all of them.
// usage: many_test.mjs LINK JOBS
import { show, start } from './browser.mjs';
import { expect, finish, tests } from './report.mjs';

const [link, jobs] = process.argv.slice(2);
const base = new URL(link).origin;
const kPatience = 60000 * Number(process.env.PATIENCE || 1);
const kRowsMax = 120; // of a window of 800 pixels

const browser = await start();
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ignoreHTTPSErrors: true });
context.setDefaultTimeout(kPatience);
const page = await context.newPage();
const test = tests('page');
const rows = () => page.locator('.scroll .row').count();
const shown = (count) => page.waitForSelector(`[role=search] [role=status] >> text=/^${count} /`);

await page.goto(link);
await page.waitForSelector('#content');
await test('ten thousand jobs are counted, and few rows are drawn', async () => {
  await show(page, '/jobs?sort=name');
  await shown(jobs);
  expect((await rows()) <= kRowsMax, `${await rows()} rows`);
});
await test('the last of them is reached by its key, in natural order', async () => {
  await page.locator('.scroll').focus();
  await page.keyboard.press('End');
  await page.waitForSelector(`.scroll .row >> text="job-${jobs - 1}"`);
  expect((await rows()) <= kRowsMax, `${await rows()} rows`);
});
await test('a filter finds one of them', async () => {
  await page.getByLabel('Filter').fill(`job-${jobs - 3}`);
  await shown(1);
  await page.waitForSelector(`.scroll .row >> text="job-${jobs - 3}"`);
});
await test('groups of twenty queues count all of them', async () => {
  await page.getByLabel('Filter').fill('queue:q-7');
  await shown(jobs / 20);
});
await test('machines are racks, not thousands of nodes of cells', async () => {
  await show(page, '/machines');
  await page.waitForSelector('text=rack-0');
});
await browser.close();
finish();
