// Figures of the page in a browser: first paint, scrolling, memory. Then it stays open, and nine more of the same session
// beside it. usage: measure.mjs LINK FILE; FILE has a line each time a number of pages is open
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../src/ui/page/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const [link, file] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ignoreHTTPSErrors: true });
const page = await context.newPage();
await page.goto(link);
await page.waitForSelector('#content');
await page.reload();
await page.waitForSelector('#content');
const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
console.log(`first paint               ${Math.round(paint)} ms   (goal 300)`);
await page.evaluate(() => {
  window.longTasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((one) => window.longTasks.push(Math.round(one.duration)))).observe({ type: 'longtask' });
});
const begun = Date.now();
await page.goto(`${base}/ui/#/jobs`);
while (Number((await page.textContent('[role=search] [role=status]')).split(' ')[0]) < Number(process.env.JOBS)) await page.waitForTimeout(50);
console.log(`${process.env.JOBS} jobs in the table     ${Date.now() - begun} ms`);
await page.waitForTimeout(1000);
await page.evaluate(() => (window.longTasks.length = 0));
await page.locator('.scroll').hover();
for (let step = 0; step < 300; step++) await page.mouse.wheel(0, 1200);
await page.waitForTimeout(500);
const tasks = await page.evaluate(() => window.longTasks);
console.log(`scrolling 10,000 rows      ${tasks.length} tasks over 50 ms, the longest ${Math.max(0, ...tasks)} ms   (goal 0)`);
const client = await context.newCDPSession(page);
await client.send('HeapProfiler.collectGarbage');
await client.send('Performance.enable');
const { metrics } = await client.send('Performance.getMetrics');
console.log(`JavaScript memory          ${(metrics.find((one) => one.name === 'JSHeapUsedSize').value / 1e6).toFixed(0)} MB   (goal 150)`);
// The pages stay open for a while, so that the server's cost of them can be measured.
const stay = async (pages) => {
  await page.waitForTimeout(5000);
  appendFileSync(file, `${pages}\n`);
  await page.waitForTimeout(12000);
};
await stay(1);
for (let more = 1; more < 10; more++) {
  const other = await context.newPage();
  await other.goto(`${base}/ui/#/jobs`);
  while (Number((await other.textContent('[role=search] [role=status]')).split(' ')[0]) < Number(process.env.JOBS)) await other.waitForTimeout(50);
}
await stay(10);
await browser.close();
