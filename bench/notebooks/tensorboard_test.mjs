// A real TensorBoard in a real browser, by way of its link. usage: tensorboard_test.mjs LINK PATH
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../src/ui/page/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const [link, path] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] });
const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
page.setDefaultTimeout(60000 * Number(process.env.PATIENCE || 1));
try {
  await page.goto(`${link}&to=${encodeURIComponent(path)}`);
  await page.waitForSelector('text=loss');
  const scalars = await page.evaluate((at) => fetch(`${at}data/plugin/scalars/scalars?tag=loss&run=first`).then((answer) => answer.json()), path);
  if (scalars.length < 100) throw new Error(`${scalars.length} points of 100`);
  console.log('ok tensorboard shows the curve');
} catch (error) {
  console.log(`FAIL tensorboard: ${String(error.message || error).split('\n').slice(0, 3).join(' ')}`);
  process.exitCode = 1;
}
await browser.close();
