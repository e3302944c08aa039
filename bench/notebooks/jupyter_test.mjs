// A real JupyterLab in a real browser, by way of its link. usage: jupyter_test.mjs LINK NOTEBOOK-PATH
// Prints how long the first page took, and whether a cell ran: its kernel speaks over a WebSocket.
import { start } from '../../tests/page/browser.mjs';

const [link, path] = process.argv.slice(2);
const browser = await start();
const context = await browser.newContext({ ignoreHTTPSErrors: true });
const page = await context.newPage();
page.setDefaultTimeout(60000 * Number(process.env.PATIENCE || 1));
const troubles = [];
page.on('response', (answer) => answer.status() >= 500 && troubles.push(`${answer.status()} ${answer.url()}`));
let failed = 0;
async function test(name, body) {
  try {
    await body();
    console.log(`ok jupyter ${name}`);
  } catch (error) {
    failed++;
    if (process.env.PICTURE) await page.screenshot({ path: `${process.env.PICTURE}.failed.png` }).catch(() => {});
    console.log(`FAIL jupyter ${name}: ${String(error.message || error).split('\n').slice(0, 3).join(' ')} ${troubles.slice(0, 3).join(' ')}`);
  }
}
const begin = Date.now();
await test('its first page is shown', async () => {
  await page.goto(`${link}&to=${encodeURIComponent(`${path}lab?reset`)}`);
  await page.waitForSelector('.jp-Launcher, .jp-Notebook');
  console.log(`   first page after ${((Date.now() - begin) / 1000).toFixed(1)} s`);
});
await test('a cell runs', async () => {
  await page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click();
  // JupyterLab drops what is run before the notebook has its kernel, and says so in the bar at the bottom alone.
  await page.waitForSelector('#jp-main-statusbar >> text=/\| Idle/');
  await page.locator('.jp-Notebook .cm-content').first().click();
  await page.keyboard.type('open("written.txt", "w").write("kept"); print(6 * 7)');
  await page.waitForSelector('.jp-Notebook .cm-content >> text=print');
  await page.keyboard.press('Shift+Enter');
  await page.waitForSelector('.jp-OutputArea-output >> text=42');
});
await test('a terminal runs', async () => {
  await page.goto(new URL(`${path}terminals/1`, page.url()).href.replace('/terminals/1', '/lab?reset'));
  await page.locator('.jp-LauncherCard[data-category="Other"] >> text=Terminal').first().click();
  await page.waitForSelector('.xterm-helper-textarea', { state: 'attached' });
  await page.locator('.jp-Terminal').first().click();
  await page.keyboard.type('echo $((40 + 2)) > made.txt\n');
  const deadline = Date.now() + 20000;
  for (;;) {
    const text = await page.evaluate((at) => fetch(at).then((answer) => (answer.ok ? answer.json() : {})), `${path}api/contents/made.txt`);
    if ((text.content || '').trim() === '42') break;
    if (Date.now() > deadline) throw new Error(`the terminal wrote ${JSON.stringify(text.content)}`);
    await page.waitForTimeout(300);
  }
});
await page.screenshot({ path: process.env.PICTURE || '/dev/null' }).catch(() => {});
await browser.close();
process.exit(failed ? 1 : 0);
