// Figures of the page in a browser: first paint, scrolling, memory. usage: measure.mjs LINK
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../src/ui/page/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const [link] = process.argv.slice(2);
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
process.send?.('watching');
// The page stays open for a while, so that the server's cost of it can be measured.
await page.waitForTimeout(Number(process.env.SECONDS_OPEN || 20) * 1000);
await browser.close();
