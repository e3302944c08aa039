// The browser that plays the page: Chromium, or with BROWSER=firefox a Firefox as Debian has it, over WebDriver BiDi.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../src/ui/page/package.json', import.meta.url));
const playwright = require('playwright-core');
export const axePath = require.resolve('axe-core/axe.min.js');
export const inFirefox = process.env.BROWSER === 'firefox';
export const kPatience = 20000 * Number(process.env.PATIENCE || 1);
const kChromium = process.env.CHROMIUM || '/usr/lib/chromium/chromium-headless-shell';
const kFirefox = process.env.FIREFOX || '/usr/bin/firefox-esr';

// Over BiDi a context cannot choose its colours, a Firefox can.
const startFirefox = (scheme) => playwright.firefox.launch({
  channel: 'moz-firefox',
  executablePath: kFirefox,
  firefoxUserPrefs: { 'layout.css.prefers-color-scheme.content-override': scheme === 'dark' ? 0 : 1, 'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false },
});
export const start = (scheme = 'light') =>
  inFirefox ? startFirefox(scheme) : playwright.chromium.launch({ executablePath: kChromium, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'] });

// A style "body {}" by which Playwright waits before it takes a picture.
const kOfPictures = 'sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA=';
// What a page says that it should not: exceptions, errors on its console, breaches of its policy.
export function troublesOf(page) {
  const troubles = [];
  page.on('pageerror', (error) => error.message.includes(kOfPictures) || troubles.push(error.message));
  page.on('console', (line) => line.type() === 'error' && !/Failed to load resource/.test(line.text()) && troubles.push(line.text()));
  return troubles;
}

// Shows a place of the page that is open, as a link of it does: another fragment loads nothing, and over BiDi no end of a
// load would be told.
export async function show(page, place) {
  await page.evaluate((to) => (location.hash = to), `#${place}`);
  await page.waitForSelector('#content');
}

// Playwright's own waiting for a function would need eval, which the page's policy forbids.
export async function until(page, fact) {
  const end = Date.now() + kPatience;
  while (!(await fact())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${fact}`);
    await page.waitForTimeout(50);
  }
}
