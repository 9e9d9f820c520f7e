// Tests what `mercat serve` prints and what it stores while it starts.

import assert from 'node:assert/strict';
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { programEnvironment } from '../support/program-environment.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Ends a test that hangs. */
const START_LIMIT_MS = 120_000;

after(cleanUp);

test('the first start prints a message before it creates the embedded database', async (t) => {
  const dir = path.join(temporaryDirectory(), 'data');
  const child = serve(t, { HOME: dir, DATA_DIR: dir });
  const [line] = await once(createInterface(child.stdout), 'line');
  assert.equal(line, `Creating the embedded database in ${dir}. The first start takes a while.`);
});

test('soon after its start, and not only at its end, the process writes the compile cache of Node', async (t) => {
  const cache = temporaryDirectory();
  serve(t, { DATA_DIR: await directoryWithDatabase(), NODE_COMPILE_CACHE: cache });
  const isStored = () => readdirSync(cache, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile());
  await until(isStored, START_LIMIT_MS, 'no compiled code was stored');
});

function serve(t: TestContext, settings: Record<string, string>): ChildProcessByStdio<null, Readable, null> {
  const env = { ...programEnvironment(), PORT: '0', PRICE_SOURCES: 'none', LOG_LEVEL: 'error', ...settings };
  const child = spawn(process.execPath, [MAIN, 'serve', '--no-sample'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  });
  return child;
}
