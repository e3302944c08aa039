// The page of a user who may see little, on a stock API server (tests/stock/page_test.sh). usage: rights_test.mjs LINK USER
// The user jane may read and write the jobs of the namespace team, the user ned nothing.
import { kPatience, start } from './browser.mjs';
import { expect, finish, tests } from './report.mjs';

const [link, user] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await start();
const test = tests('stock:');
const context = await browser.newContext();
context.setDefaultTimeout(kPatience);
const refusal = '#content >> text=/You may not see|cannot list resource/';
const thrown = [];
// Each place is a page of its own, so that no text is that of the place before.
async function opened(address) {
  const page = await context.newPage();
  page.on('pageerror', (error) => thrown.push(error.message));
  await page.goto(address);
  await page.waitForSelector('#content');
  return page;
}

await test(`the page opens for ${user}`, async () => (await opened(link)).close());
for (const place of ['/', '/machines', '/queues', '/jobs', '/events', '/objects/v1/secrets'])
  await test(`${user} is told that ${place} may not be seen`, async () => {
    const page = await opened(`${base}/ui/#${place}`);
    await page.waitForSelector(refusal);
    let text = await page.textContent('#content');
    for (const end = Date.now() + kPatience; /Loading/.test(text) && Date.now() < end; text = await page.textContent('#content')) await page.waitForTimeout(50);
    expect(!/No job|No event|No object|Nothing|Loading|0Running/.test(text), `an empty list is shown beside: ${text.slice(-300)}`);
    await page.close();
  });
await test(`${user} sees the jobs of the namespace as RBAC says`, async () => {
  const page = await opened(`${base}/ui/#/jobs`);
  await page.waitForSelector(refusal);
  await page.getByRole('textbox', { name: 'Namespace' }).fill('team');
  await page.keyboard.press('Tab');
  if (user === 'jane') {
    await page.waitForSelector('.scroll .row >> text=first');
    const told = await page.locator('.notice').allTextContents();
    expect(told.length === 1 && /mpijobs\.kubeflow\.org/.test(told[0]) && !/jobs\.batch\.volcano\.sh/.test(told[0]), `her notices: ${told.join(' | ')}`);
  } else {
    await page.waitForSelector('#content >> text=/You may not see|in the namespace .team/');
    expect(!(await page.$('.scroll .row >> text=first')), 'the job is seen');
  }
});
await test(`nothing in the page of ${user} is thrown`, async () => expect(thrown.length === 0, thrown.join('; ')));
await browser.close();
finish();
