// The pictures of docs/notebooks.md, of a notebook `one` whose run TensorBoard `curves` shows. usage: pictures.mjs LINK FOLDER
import { start } from '../../tests/page/browser.mjs';

const [link, folder] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await start();
const context = await browser.newContext({ viewport: { width: 1120, height: 700 }, ignoreHTTPSErrors: true, locale: 'en-GB', colorScheme: 'light' });
context.setDefaultTimeout(60000 * Number(process.env.PATIENCE || 1));
const page = await context.newPage();
const picture = (name) => page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });

await page.goto(link);
await page.goto(`${base}/ui/#/notebooks`);
await page.waitForSelector('.scroll .row >> text=one');
await page.getByRole('button', { name: 'Create notebook' }).click();
const form = page.getByRole('dialog');
await form.getByLabel('Name', { exact: true }).fill('two');
await form.getByLabel('CPU', { exact: true }).fill('2');
await form.getByLabel('Memory', { exact: true }).fill('4Gi');
await picture('notebook-form');

const lab = await context.newPage();
await lab.goto(`${base}/notebook/default/one/lab?reset`);
await lab.addLocatorHandler(lab.getByText('Would you like to get notified'), () => lab.getByRole('button', { name: 'No', exact: true }).click());
await lab.locator('.jp-LauncherCard[data-category="Notebook"]').first().click();
// JupyterLab drops what is run before the notebook has its kernel, and says so in the bar at the bottom alone.
await lab.waitForSelector('#jp-main-statusbar >> text=/\\| Idle/');
await lab.locator('.jp-Notebook .cm-content').first().click();
const cell = ['import os', 'sorted(os.listdir("runs"))'];
for (const [at, line] of cell.entries()) {
  await lab.keyboard.type(line);
  if (at + 1 < cell.length) await lab.keyboard.press('Enter');
}
await lab.keyboard.press('Shift+Enter');
await lab.waitForSelector('.jp-OutputArea-output >> text=first');
await lab.screenshot({ path: `${folder}/notebook-cell.png`, animations: 'disabled' });
await lab.goto(`${base}/notebook/default/one/lab?reset`);
await lab.locator('.jp-LauncherCard[data-category="Other"] >> text=Terminal').first().click();
await lab.waitForSelector('.xterm-helper-textarea', { state: 'attached' });
await lab.locator('.jp-Terminal').first().click();
await lab.keyboard.type('python3 --version; nproc; du -h runs; echo $((40 + 2)) > seen.txt\n');
// The terminal draws on a canvas: what it ran is seen in its folder.
const end = Date.now() + 30000;
while ((await lab.evaluate((at) => fetch(at).then((answer) => answer.status), '/notebook/default/one/api/contents/seen.txt')) !== 200) {
  if (Date.now() > end) throw new Error('the terminal ran nothing');
  await lab.waitForTimeout(200);
}
await lab.screenshot({ path: `${folder}/notebook-terminal.png`, animations: 'disabled' });

const board = await context.newPage();
await board.goto(`${base}/tensorboard/default/curves/`);
await board.waitForSelector('text=loss');
await board.waitForTimeout(5000); // its curves are drawn, and move into place
await board.screenshot({ path: `${folder}/notebook-curves.png`, animations: 'disabled' });
await browser.close();
