// Measures whether the web console slows the interfaces, and how fast its pages are.

import { findConsole } from '../../src/server/console.ts';
import { compareServices } from '../support/two-services.ts';
import { recordUnmeasured } from '../support/verdict.ts';
import { benchConsolePages } from './console-pages.ts';

export async function benchConsole(): Promise<void> {
  if (findConsole() === null) {
    recordUnmeasured('console', 'it is not built (npm run build)');
    return;
  }
  await compareServices(
    { name: 'with the console', settings: { CONSOLE: 'on' } },
    { name: 'without the console', settings: { CONSOLE: 'off' } },
  );
  await benchConsolePages();
}
