// A real TensorBoard in a real browser, by way of its link. usage: tensorboard_test.mjs LINK PATH
import { start } from '../../tests/page/browser.mjs';

const [link, path] = process.argv.slice(2);
const browser = await start();
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
