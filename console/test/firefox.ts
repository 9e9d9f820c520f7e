// Starts the Firefox of the system, which Playwright drives through WebDriver BiDi.

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { firefox } from 'playwright-core';

/** Commands of WebDriver BiDi that Firefox does not have. Playwright sends them without a need of the tests. */
const MISSING_COMMANDS = new Set(['emulation.setMediaFeaturesOverride']);

type Message = { method?: string; params?: { navigation?: string | null; url?: string } };
type Session = {
  send: (method: string, parameters: unknown) => Promise<unknown>;
  dispatchMessage: (message: Message) => void;
};
type Touchscreen = {
  _session: Session & { sessionId: string };
  tap: (progress: unknown, x: number, y: number) => Promise<void>;
};
/** The parts of Playwright that its types do not name. */
type Internals = {
  _connection: {
    toImpl: ((browser: Browser) => { _browserSession: Session }) &
      ((page: Page) => { delegate: { rawTouchscreen: Touchscreen } });
  };
};

export async function launchFirefox(executablePath: string, preferences: Record<string, string>): Promise<Browser> {
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath, firefoxUserPrefs: preferences });
  const { _connection: connection } = browser as unknown as Internals;
  // All sessions of the browser and its pages have this prototype.
  const sessions = Object.getPrototypeOf(connection.toImpl(browser)._browserSession) as Session;
  const { send, dispatchMessage } = sessions;
  sessions.send = function sendIfKnown(this: Session, method, parameters) {
    return MISSING_COMMANDS.has(method) ? Promise.resolve({}) : send.call(this, method, parameters);
  };
  // The download of a blob begins no navigation. Playwright knows downloads by the id of their navigation, and would ignore this one.
  sessions.dispatchMessage = function dispatchDownload(this: Session, message) {
    const { method, params } = message;
    if (method?.startsWith('browsingContext.download') && params?.url !== undefined) params.navigation ??= params.url;
    dispatchMessage.call(this, message);
  };
  return browser;
}

/** Through WebDriver BiDi, a tap of Playwright does nothing. Makes the taps on the page. */
export function enableTaps(page: Page): void {
  const { rawTouchscreen } = (page as unknown as Internals)._connection.toImpl(page).delegate;
  rawTouchscreen.tap = async function tap(this: Touchscreen, _progress, x, y) {
    const actions = [
      { type: 'pointerMove', x: Math.round(x), y: Math.round(y) },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    await this._session.send('input.performActions', {
      context: this._session.sessionId,
      actions: [{ type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' }, actions }],
    });
  };
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
