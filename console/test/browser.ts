// Starts Chromium for the tests of the web console, and checks what every page of the console must satisfy.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { chooseTheme, enableTaps, isOfPolicy, launchFirefox } from './firefox.ts';

/** Where Firefox is. Without it, the tests run in Chromium. */
const FIREFOX = process.env['FIREFOX'];
export const IS_FIREFOX = FIREFOX !== undefined;
const EXECUTABLE = FIREFOX ?? process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const SCREENSHOTS = fileURLToPath(new URL('../screenshots/', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const READY_LIMIT_MS = 60_000;

/** Settings of the services that these tests start. With this long timeout, no read fails on a busy machine. */
export const PATIENT = { SOURCE_TIMEOUT_MS: '60000' };

/** The reason for which the tests are skipped. Null if they can run. */
export const WHY_NO_BROWSER = existsSync(EXECUTABLE) ? null : `no browser at ${EXECUTABLE} (set CHROMIUM or FIREFOX)`;

/** `isTouch`: whether the window is that of a phone with a touch screen. */
export type Look = { width: number; scheme: 'light' | 'dark'; isTouch?: boolean };

/** The window widths and colour schemes in which every page is checked and photographed. */
export const LOOKS: readonly Look[] = [390, 1_280, 1_920].flatMap((width) => [
  { width, scheme: 'light' as const },
  { width, scheme: 'dark' as const },
]);

/** `localName`: a host name that leads to this machine. */
export function launchBrowser({ localName }: { localName?: string } = {}): Promise<Browser> {
  if (FIREFOX !== undefined) {
    return launchFirefox(FIREFOX, localName === undefined ? {} : { 'network.dns.localDomains': localName });
  }
  const rules = localName === undefined ? [] : [`--host-resolver-rules=MAP ${localName} 127.0.0.1`];
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', ...rules] });
}

/** A page that collects its errors. */
export type WatchedPage = { page: Page; context: BrowserContext; errors: string[] };

export async function openPage(browser: Browser, { width, scheme, isTouch = false }: Look): Promise<WatchedPage> {
  const height = width < 500 ? 844 : 900;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    hasTouch: isTouch,
    ...(FIREFOX === undefined && { isMobile: isTouch }),
    // The Content-Security-Policy would forbid the script of axe. test/server/console.test.ts tests the policy.
    bypassCSP: true,
  });
  if (FIREFOX !== undefined) await chooseTheme(context, scheme);
  const page = await context.newPage();
  if (FIREFOX !== undefined) enableTaps(page);
  page.setDefaultTimeout(READY_LIMIT_MS);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(`console: ${message.text()}`);
  });
  page.on('pageerror', ({ message }) => {
    if (FIREFOX === undefined || !isOfPolicy(message)) errors.push(`exception: ${message}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) errors.push(`${response.status()} ${response.url()}`);
  });
  page.on('requestfailed', (request) => {
    // When the browser leaves a page, the page cancels its open requests. These requests are not errors.
    const { errorText = '' } = request.failure() ?? {};
    if (!/ABORT/.test(errorText)) errors.push(`failed: ${request.url()} ${errorText}`);
  });
  return { page, context, errors };
}

/** Opens a URL and waits until nothing on the page is loading. */
export async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await waitUntilLoaded(page);
}

export async function waitUntilLoaded(page: Page): Promise<void> {
  // The search field shows that the scripts have run: before that, the page has only the title of the market. Skeletons below the visible part
  // of the page are ignored, because the figures of a row are read only when the row comes into view.
  await page.waitForFunction(`document.querySelector('.search') && document.querySelector('main h1') && !document.querySelector('[aria-busy=true]') &&
    !Array.from(document.querySelectorAll('.skeleton'), (element) => element.getBoundingClientRect())
      .some(({ width, top, bottom }) => width > 0 && bottom > 0 && top < innerHeight)`);
}

/** More than the links, buttons and fields of a page that come before the first row of a list. */
const TABS_MAX = 60;

/** Moves the focus with the key Tab to the link, button or field with this name. Returns how often the key was pressed. */
export async function tabTo(page: Page, name: string | RegExp): Promise<number> {
  const focused = () =>
    page.evaluate<string>(`{
      const { name, textContent } = document.activeElement;
      document.activeElement.getAttribute('aria-label') || name || textContent;
    }`);
  const isWanted = (text: string) => (typeof name === 'string' ? text === name : name.test(text));
  const passed: string[] = [];
  for (let at = await focused(); !isWanted(at); at = await focused()) {
    passed.push(at.slice(0, 40));
    assert.ok(passed.length < TABS_MAX, `${name} is not reached: ${passed.join(', ')}`);
    await page.keyboard.press('Tab');
  }
  return passed.length;
}

/** Asserts that the page has no error, no violation of axe's rules, and nothing wider than the window. Takes a screenshot. */
export async function assertGoodPage({ page, errors }: WatchedPage, name: string, look: Look): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}${name}-${look.width}-${look.scheme}.png` });
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const wide = await page.evaluate(`Array.from(document.querySelectorAll('main *'))
    .filter((element) => element.getBoundingClientRect().right > innerWidth).map(({ tagName, className }) => tagName + '.' + className)`);
  assert.ok(Number(overflow) <= 0, `${name} is wider than the window: ${String(wide)}`);
  // Further down, the header would cover parts of links, which axe would find too small.
  await page.evaluate('scrollTo(0, 0)');
  await page.evaluate(AXE);
  // The rule about the size of touch targets, of WCAG 2.2 AA, is the only one of level AA that axe leaves out by default.
  const violations =
    await page.evaluate(`axe.run({ rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations.map(
    ({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' | ')))`);
  assert.deepEqual(violations, [], name);
  assert.deepEqual(errors, [], name);
}
