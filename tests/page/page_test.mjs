// The page in a real browser against a real `volcano up`. Prints "ok NAME" or "FAIL NAME: why" lines, and leaves a
// screenshot of each page in light and dark. BROWSER=firefox plays it in Firefox. usage: page_test.mjs LINK FOLDER VOLCANO
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { axePath, inFirefox, kPatience, show, start, troublesOf, until } from './browser.mjs';
import { expect, finish, tests } from './report.mjs';

const axe = readFileSync(axePath, 'utf8');
const [link, folder, volcano] = process.argv.slice(2);
const base = new URL(link).origin;
mkdirSync(folder, { recursive: true });

const browser = await start();
const kubectl = (...words) => execFileSync('kubectl', words, { encoding: 'utf8' });
const test = tests('page');

// A browser without a past that has opened `address`; what its console says is kept.
async function open(address, scheme = 'light', of = browser) {
  const context = await of.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: scheme, ignoreHTTPSErrors: true, locale: 'en-GB' });
  context.setDefaultTimeout(kPatience);
  const page = await context.newPage();
  page.troubles = troublesOf(page);
  const answer = await page.goto(address);
  page.answered = answer.status();
  return page;
}
const newLink = (...words) => execFileSync(volcano, ['ui', 'link', ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
const job = (name) => `/job/batch.volcano.sh%2Fv1alpha1/jobs/default/${name}`;

const page = await open(link);
await test('a link opens a session', async () => {
  await page.waitForSelector('#content');
  expect(page.url() === `${base}/ui/`, `the address is ${page.url()}, and shows no code`);
  expect((await page.textContent('.who')).includes('volcano-admin'), 'the page says as whom it acts');
});
await test('a used link opens none', async () => {
  const again = await open(link);
  expect(again.answered === 403, `status ${again.answered}`);
  await again.context().close();
});
await test('without a session the page says how to get one', async () => {
  const stranger = await open(`${base}/ui/`);
  await stranger.waitForSelector('text=volcano ui link');
  await stranger.context().close();
});

await test('a job that is submitted appears, runs and shows its log', async () => {
  await show(page, '/submit');
  await page.getByLabel('Name', { exact: true }).fill('from-the-page');
  await page.getByLabel('Command').fill('echo hello from the page; sleep 300');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.waitForSelector('text=The server accepts this.');
  await page.waitForSelector('text=The scheduler would start 1 of 1 pods now');
  await page.getByLabel('CPU', { exact: true }).fill('999');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.waitForSelector('text=/The scheduler would let the job wait: .*999/');
  await page.getByLabel('CPU', { exact: true }).fill('');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('link', { name: /from-the-page/ }).click();
  await page.waitForSelector('.subject >> text=Running');
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.waitForSelector('.logs >> text=hello from the page');
});
await test('a job is followed to its end, with its log line by line', async () => {
  await show(page, '/submit');
  await page.getByLabel('Name', { exact: true }).fill('ends-itself');
  await page.getByLabel('Command').fill('echo first line; sleep 3; echo last line');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('link', { name: /ends-itself/ }).click();
  await page.waitForSelector('.subject >> text=Running');
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.waitForSelector('.logs >> text=first line');
  expect(!(await page.textContent('.logs')).includes('last line'), 'the log is live');
  await page.waitForSelector('.logs >> text=last line');
  await page.waitForSelector('.subject >> text=Completed');
});
await test('a wrong field is named beside its line', async () => {
  await show(page, '/submit');
  await page.fill('#yaml', 'apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata:\n  name: bad\nspec:\n  minAvailable: 5\n  tasks:\n  - name: a\n    replicas: 1\n    template:\n      spec:\n        containers:\n        - name: c\n          imag: x\n');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.waitForSelector('.results .bad');
  expect(/imag/.test(await page.textContent('.results')), await page.textContent('.results'));
});
await test('a waiting job says why, in the words of explain', async () => {
  await show(page, job('waits'));
  await page.waitForSelector('.causes');
  const told = await page.textContent('.causes');
  expect(/cpu/.test(told), told);
});
await test('the table filters, sorts and keeps both in the address', async () => {
  await show(page, '/jobs');
  await page.getByLabel('Filter').fill('state:waiting');
  await until(page, async () => (await page.locator('.scroll .row').count()) === 1);
  expect(decodeURIComponent(page.url()).includes('filter=state:waiting'), page.url());
  await page.reload();
  await page.waitForSelector('.scroll .row >> text=waits');
});
await test('suspend, resume and cancel ask first, by name, and act', async () => {
  await show(page, '/jobs?filter=from-the');
  for (const [action, then] of [['Suspend', '.scroll .row >> text=Aborted'], ['Resume', '.scroll .row >> text=Running'], ['Cancel', '.scroll >> text=No job matches']]) {
    await page.getByLabel('Select from-the-page').check();
    await page.getByRole('button', { name: new RegExp(`^${action}`) }).click();
    expect((await page.textContent('dialog')).includes('default/from-the-page'), 'the dialog names the job');
    await page.getByRole('button', { name: 'Yes, do it' }).click();
    await page.waitForSelector('dialog >> text=done');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.waitForSelector(then);
  }
});
await test('a queue is made after its change was shown', async () => {
  await show(page, '/queues');
  await page.getByRole('button', { name: 'Create queue' }).click();
  await page.getByLabel('Name', { exact: true }).fill('from-page');
  await page.getByRole('textbox', { name: 'Capability' }).fill('cpu=nonsense');
  await page.getByRole('button', { name: 'What would change' }).click();
  await page.waitForSelector('dialog >> text=is not NAME=AMOUNT');
  await page.getByRole('textbox', { name: 'Capability' }).fill('cpu=1');
  await page.getByRole('button', { name: 'What would change' }).click();
  await page.waitForSelector('dialog >> text=capability');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.waitForSelector('.queues >> text=from-page');
});
await test('a node is cordoned and taken back', async () => {
  const node = kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}');
  await show(page, `/machines/${node}`);
  await page.getByRole('button', { name: 'Cordon' }).click();
  await page.getByRole('button', { name: 'Uncordon' }).click();
  await page.getByRole('button', { name: 'Cordon' }).waitFor();
});
await test('names and logs of strangers are text', async () => {
  await show(page, job('hostile'));
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.waitForSelector('.logs >> text=<img src=x onerror=alert(1)>');
  expect((await page.textContent('.logs')).includes('\\u202e'), 'a mark that turns writing around is shown');
  expect((await page.locator('.logs img').count()) === 0, 'markup became an element');
});
await test('a user sees what the user may, and is told of the rest', async () => {
  const ann = await open(newLink('--as-user', 'ann'));
  await ann.waitForSelector('#content');
  await show(ann, '/machines');
  await ann.waitForSelector('text=You may not see this.');
  await show(ann, '/objects/v1/secrets');
  await ann.waitForSelector('text=cannot list resource');
  // The role is one of the namespace default.
  await ann.getByRole('textbox', { name: 'Namespace' }).fill('default');
  await ann.keyboard.press('Tab');
  await show(ann, '/jobs');
  await ann.waitForSelector('.scroll .row >> text=waits');
  const told = await ann.locator('.notice').allTextContents();
  expect(told.length === 1 && /pytorchjobs\.kubeflow\.org, tfjobs/.test(told[0]), `what ann may not see: ${told.join(' | ')}`);
  await ann.context().close();
});
await test('the keyboard reaches a job', async () => {
  await show(page, '/jobs');
  await page.waitForSelector('.scroll .row');
  await page.locator('.scroll .row').first().focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.subject');
});
await test('a notebook is made by its form, stopped and deleted', async () => {
  await show(page, '/notebooks');
  await page.getByRole('button', { name: 'Create notebook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Made');
  await dialog.getByLabel('Image').fill('python3');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('lower-case letters').waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('made');
  await dialog.getByLabel('GPUs').fill('99');
  await dialog.getByLabel('Queue').fill('default');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.waitForSelector('.scroll .row >> text=made');
  expect((await page.getByRole('link', { name: 'Open it made' }).getAttribute('href')) === '/notebook/default/made/', 'its link');
  await show(page, '/volumes');
  await page.waitForSelector('.scroll .row >> text=made-workspace');
  await show(page, '/notebooks/default/made');
  await page.getByRole('button', { name: 'Stop made' }).click();
  await page.getByRole('button', { name: 'Start made' }).waitFor();
  await page.getByRole('button', { name: 'Delete made' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Yes, do it' }).click();
  await page.waitForSelector('text=No notebook yet');
});
await test('Chinese is spoken', async () => {
  await page.getByLabel('Language').selectOption('zh');
  await page.waitForSelector('nav >> text=任务');
  await page.getByLabel('语言').selectOption('en');
});

const kPages = { overview: '/', jobs: '/jobs', job: job('waits'), queues: '/queues', machines: '/machines', submit: '/submit', notebooks: '/notebooks', notebook: '/notebooks/default/waits', tensorboards: '/tensorboards', volumes: '/volumes', people: '/people', events: '/events', objects: '/objects/v1/configmaps' };
for (const scheme of ['light', 'dark']) {
  const painted = await start(scheme);
  const seen = await open(newLink(), scheme, painted);
  for (const [name, place] of Object.entries(kPages))
    await test(`${name} in ${scheme} has no finding of axe`, async () => {
      await show(seen, place);
      await until(seen, async () => !/Loading…/.test(await seen.textContent('#content')));
      await seen.screenshot({ path: `${folder}/${name}-${scheme}.png` });
      const findings = await axeIn(seen);
      expect(findings.length === 0, findings.join('; '));
      expect(seen.troubles.length === 0, seen.troubles.join('; '));
    });
  await painted.close();
}
// The page's policy lets no script of others in: axe runs in a world of its own.
async function axeIn(seen) {
  const run = 'axe.run(document).then((found) => found.violations.map((one) => one.id + " " + one.nodes[0].html.slice(0, 120)))';
  if (inFirefox) return (await seen.evaluate(axe), seen.evaluate(run));
  const client = await seen.context().newCDPSession(seen);
  const { frameTree } = await client.send('Page.getFrameTree');
  const { executionContextId } = await client.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
  await client.send('Runtime.evaluate', { expression: axe, contextId: executionContextId });
  const { result } = await client.send('Runtime.evaluate', { expression: run, contextId: executionContextId, awaitPromise: true, returnByValue: true });
  return result.value;
}
await test('it works on a phone and at 400 % zoom without scrolling sideways', async () => {
  await page.setViewportSize({ width: 320, height: 640 });
  for (const place of ['/', '/jobs', '/queues', '/notebooks', '/people', '/submit']) {
    await show(page, place);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1);
    expect(!wide, `${place} is wider than the screen`);
  }
});
await test('nothing was said on the console, and signing out ends the session', async () => {
  expect(page.troubles.length === 0, page.troubles.join('; '));
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForSelector('text=Your session has ended.');
  await page.reload();
  await page.waitForSelector('text=volcano ui link');
});
await browser.close();
finish();
