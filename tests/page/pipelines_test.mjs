// The pages of pipelines in a real browser against a real `volcano up`: upload, a form, a run's graph and its tasks.
// usage: pipelines_test.mjs LINK FOLDER DOCUMENT
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../src/ui/page/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const [link, folder, document] = process.argv.slice(2);
const base = new URL(link).origin;
const kPatience = 20000 * Number(process.env.PATIENCE || 1);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ignoreHTTPSErrors: true, locale: 'en-GB' });
context.setDefaultTimeout(kPatience);
const page = await context.newPage();
const troubles = [];
page.on('pageerror', (error) => troubles.push(error.message));
page.on('console', (line) => line.type() === 'error' && !/Failed to load resource/.test(line.text()) && troubles.push(line.text()));
let failed = 0;
async function test(name, body) {
  try {
    await body();
    console.log(`ok page ${name}`);
  } catch (error) {
    failed++;
    await page.screenshot({ path: `${folder}/pipelines-failed.png` });
    console.log(`FAIL page ${name}: ${String(error.message || error).split('\n').slice(0, 3).join(' ')}`);
  }
}
const expect = (fact, what) => {
  if (!fact) throw new Error(what);
};

await page.goto(link);
await test('a pipeline is uploaded', async () => {
  await page.goto(`${base}/ui/#/pipelines?tab=pipelines`);
  await page.getByRole('button', { name: 'Upload a pipeline' }).click();
  await page.getByLabel('Name').last().fill('from-the-page');
  await page.locator('input[type=file]').setInputFiles(document);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByRole('link', { name: 'from-the-page' }).first().waitFor();
});
await test('a pipeline shows its graph', async () => {
  await page.getByRole('link', { name: 'from-the-page' }).first().click();
  await page.getByText('greet', { exact: true }).first().waitFor();
  await page.screenshot({ path: `${folder}/pipelines-version.png` });
});
await test('a run starts from the form of its parameters', async () => {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByLabel('name (STRING)').fill('page');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.waitForURL(/#\/pipelines\/run\/default\//);
  await page.locator('header.subject').getByText('SUCCEEDED').waitFor();
});
await test('a task shows its inputs, its outputs and its log', async () => {
  await page.getByRole('link', { name: /^say: SUCCEEDED/ }).click();
  await page.getByRole('heading', { name: 'Inputs' }).waitFor();
  await page.getByText('it says <hello page> alone').waitFor();
  await page.screenshot({ path: `${folder}/pipelines-run.png`, fullPage: true });
});
await test('a run can be retried, compared and deleted only where it is over', async () => {
  expect((await page.getByRole('button', { name: 'Retry' }).count()) === 1, 'no way to retry it');
  expect((await page.getByRole('button', { name: 'Terminate' }).count()) === 0, 'it is over and can be ended');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Yes, do it' }).click();
  await page.getByText('No run yet').waitFor();
});
await test('pages of pipelines have no barriers', async () => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(window.document, { runOnly: ['wcag2a', 'wcag2aa'] }));
  expect(found.violations.length === 0, found.violations.map((one) => `${one.id}: ${one.nodes[0].html}`).join('; '));
});
await test('pages of pipelines break no rule of the policy', async () => expect(troubles.length === 0, troubles.join('; ')));
await browser.close();
process.exit(failed ? 1 : 0);
