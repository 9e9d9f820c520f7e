// `mercat serve` as a user sees it while it starts.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

test('the first start prints that it creates the embedded database before it does so', async (t) => {
  const dir = path.join(temporaryDirectory(), 'data');
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: dir, PORT: '0', DATA_DIR: dir, PRICE_SOURCES: 'none', LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, [MAIN, 'serve', '--no-sample'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  assert.equal(line, `Creating the embedded database in ${dir}. The first start takes a while.`);
});
