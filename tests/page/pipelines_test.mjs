// The pages of pipelines in a real browser against a real `volcano up`: upload, a form, a run's graph and its tasks.
// usage: pipelines_test.mjs LINK FOLDER DOCUMENT EVIDENCE WORKFLOW
// EVIDENCE: a pipeline that makes an artifact of each kind, with markup in names and a page that would do harm.
import { readFileSync } from 'node:fs';
import { axePath, kPatience, show, start, troublesOf } from './browser.mjs';
import { expect, finish, tests } from './report.mjs';

const axe = readFileSync(axePath, 'utf8');
const [link, folder, document, evidence, workflow] = process.argv.slice(2);
const base = new URL(link).origin;

const browser = await start();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ignoreHTTPSErrors: true, locale: 'en-GB' });
context.setDefaultTimeout(kPatience);
const page = await context.newPage();
const troubles = troublesOf(page);
const test = tests('page', () => page.screenshot({ path: `${folder}/pipelines-failed.png` }));

await page.goto(link);
await page.getByRole('link', { name: 'Pipelines' }).waitFor();
await test('a pipeline is uploaded', async () => {
  await show(page, '/pipelines?tab=pipelines');
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
const noBarriers = async () => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(window.document, { runOnly: ['wcag2a', 'wcag2aa'], iframes: false }));
  expect(found.violations.length === 0, found.violations.map((one) => `${one.id}: ${one.nodes[0].html}`).join('; '));
};
await test('pages of pipelines have no barriers', noBarriers);

async function startEvidence(name, skill) {
  await show(page, '/pipelines?tab=pipelines');
  await page.getByRole('link', { name: 'evidence' }).first().click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByLabel('Name of the run').fill(name);
  await page.getByLabel('skill (NUMBER_DOUBLE)').fill(skill);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.waitForURL(/#\/pipelines\/run\/default\//);
  await page.locator('header.subject').getByText('SUCCEEDED').waitFor();
}
await test('artifacts are shown as what they are', async () => {
  await show(page, '/pipelines?tab=pipelines');
  await page.getByRole('button', { name: 'Upload a pipeline' }).click();
  await page.getByLabel('Name').last().fill('evidence');
  await page.locator('input[type=file]').setInputFiles(evidence);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByRole('link', { name: 'evidence' }).first().waitFor();
  await startEvidence('<i>first</i>', '0.8');
  await page.getByRole('link', { name: /^measure: SUCCEEDED/ }).click();
  await page.getByRole('img', { name: /^ROC curve: area 0\.8/ }).waitFor();
  const matrix = page.getByRole('table', { name: 'Confusion matrix' });
  expect((await matrix.innerText()).includes('<b>dog</b>'), 'a name with markup is not shown as it is');
  await page.getByRole('rowheader', { name: '<img src=x onerror=alert(1)>' }).waitFor();
  await page.getByRole('button', { name: 'Show table' }).click();
  await page.getByText('row 19', { exact: true }).waitFor();
  await page.getByText(/KiB · the first part|^\d+(\.\d+)? KiB/).first().waitFor();
  await page.getByRole('button', { name: 'Show text' }).click();
  await page.getByRole('heading', { name: 'Findings' }).waitFor();
  expect((await page.getByRole('link', { name: 'the source' }).getAttribute('href')) === 'https://example.org/a', 'a link is missing');
  expect((await page.locator('.document a').count()) === 1, 'a link that runs code is one');
  await page.getByText('<script>alert(1)</script>').waitFor();
});
await test('a page in an artifact does nothing but show itself', async () => {
  const before = page.url(), asked = [];
  // A request that the policy stops has failed before it is made.
  page.on('requestfailed', (one) => one.url().includes('example.org') && one.failure().errorText !== 'csp' && asked.push(`${one.url()} ${one.failure().errorText}`));
  page.on('response', (one) => one.url().includes('example.org') && asked.push(one.url()));
  await page.getByRole('button', { name: 'Show page' }).click();
  const frame = page.frameLocator('iframe.artifact');
  await frame.getByRole('heading', { name: 'a page' }).waitFor();
  const element = page.locator('iframe.artifact');
  expect((await element.getAttribute('sandbox')) === '', 'the frame has rights');
  const answer = await page.evaluate(async (address) => Object.fromEntries((await fetch(address)).headers), await element.getAttribute('src'));
  expect(/^sandbox; default-src 'none'/.test(answer['content-security-policy']), `its policy: ${answer['content-security-policy']}`);
  expect((await frame.locator('#said').innerText()) === 'a page', 'its script ran');
  expect(page.url() === before && asked.length === 0, `it led to ${page.url()} ${asked}`);
  await page.screenshot({ path: `${folder}/pipelines-artifacts.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: `${folder}/pipelines-artifacts-dark.png`, fullPage: true });
  await noBarriers();
  await page.emulateMedia({ colorScheme: 'light' });
  await noBarriers();
});
await test('runs are compared by numbers and curves', async () => {
  await startEvidence('second', '0.6');
  await show(page, '/pipelines');
  await page.getByRole('link', { name: '<i>first</i>' }).waitFor();
  for (const box of await page.getByRole('checkbox').all()) await box.check();
  await page.getByRole('button', { name: /^Compare/ }).click();
  await page.getByRole('rowheader', { name: 'measure: accuracy' }).waitFor();
  await page.getByRole('img', { name: /^measure: accuracy: .*0\.[68].*0\.[68]/ }).waitFor();
  await page.getByRole('img', { name: /^ROC curve: .*<i>first<\/i>/ }).waitFor();
  await page.screenshot({ path: `${folder}/pipelines-compare.png` });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: `${folder}/pipelines-compare-dark.png` });
  await noBarriers();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Close' }).click();
});
await test('a pipeline of version 1 is uploaded, run and followed', async () => {
  await show(page, '/pipelines?tab=pipelines');
  await page.getByRole('button', { name: 'Upload a pipeline' }).click();
  await page.getByLabel('Name').last().fill('of-version-1');
  await page.locator('input[type=file]').setInputFiles(workflow);
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByRole('link', { name: 'of-version-1' }).first().click();
  await page.locator('svg').getByText('create-volume', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByLabel('rate (STRING)').fill('0.25');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.waitForURL(/#\/pipelines\/run\/default\/.*kind=workflow/);
  await page.locator('header.subject').getByText('SUCCEEDED').waitFor();
  await page.getByRole('link', { name: /^print: SUCCEEDED/ }).click();
  await page.getByText('prediction of 0.25').waitFor();
  await page.screenshot({ path: `${folder}/pipelines-version-1.png`, fullPage: true });
  await noBarriers();
  await show(page, '/pipelines');
  await page.getByRole('link', { name: 'of-version-1', exact: true }).waitFor();
});
// What the frame may not do is told on the console, and is what the policy is for.
await test('pages of pipelines break no rule of the policy', async () => expect(troubles.filter((one) => !/example\.org|sandboxed/.test(one)).length === 0, troubles.join('; ')));
await browser.close();
finish();
