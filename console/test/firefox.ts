// Starts the Firefox of the system, which Playwright drives through WebDriver BiDi.

import type { Browser, BrowserContext } from 'playwright-core';
import { firefox } from 'playwright-core';

/** Commands of WebDriver BiDi that Firefox does not have. Playwright sends them without a need of the tests. */
const MISSING_COMMANDS = new Set(['emulation.setMediaFeaturesOverride']);

type Session = { send: (method: string, parameters: unknown) => Promise<unknown> };
/** The parts of Playwright that its types do not name. */
type Internals = { _connection: { toImpl: (browser: Browser) => { _browserSession: Session } } };

export async function launchFirefox(executablePath: string): Promise<Browser> {
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath });
  const { _connection: connection } = browser as unknown as Internals;
  // All sessions of the browser and its pages have this prototype.
  const sessions = Object.getPrototypeOf(connection.toImpl(browser)._browserSession) as Session;
  const { send } = sessions;
  sessions.send = function sendIfKnown(this: Session, method, parameters) {
    return MISSING_COMMANDS.has(method) ? Promise.resolve({}) : send.call(this, method, parameters);
  };
  return browser;
}

/** Firefox cannot emulate the theme of the system, so the theme is chosen in the console. */
export async function chooseTheme(context: BrowserContext, theme: 'light' | 'dark'): Promise<void> {
  // The first page of a tab, about:blank, has no storage.
  await context.addInitScript(`if (origin !== 'null') localStorage.setItem('theme', '${theme}')`);
}

/** Firefox reports what its Content-Security-Policy forbids to axe, because Playwright cannot switch off the policy there. */
export function isOfPolicy(error: string): boolean {
  return /blocked (a JavaScript eval|an inline style)|eval\(\) blocked by CSP/.test(error);
}
