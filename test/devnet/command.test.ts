// `mercat devnet` starts chains, simulations on them, and a service that follows them. It leaves no temporary files.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { defineDevnet } from '../../src/cli/devnet.ts';
import { runCommand } from '../cli/run-command.ts';

/** A read may take long on a busy machine. With this setting it does not fail, so no response lacks collections. */
const PATIENT = { SOURCE_TIMEOUT_MS: '60000' };

const run = (args: string[], onStdout?: (text: string) => void) =>
  runCommand(defineDevnet, ['devnet', ...args], { env: PATIENT, ...(onStdout && { onStdout }) });

// A temporary directory for this test only. Other processes write to the system's temporary directory.
const directory = mkdtempSync(path.join(os.tmpdir(), 'devnet-test-'));
process.env['TMPDIR'] = directory;
after(() => rmSync(directory, { recursive: true }));
const leftovers = () => readdirSync(directory);

test('devnet lists signed orders, serves their collections and simulates the requested actions', async () => {
  const served: Promise<unknown>[] = [];
  const readServed = (output: string) => {
    const url = /serves on (\S+)\n/.exec(output)?.[1];
    if (served.length > 0 || url === undefined || !output.includes('Stop: Ctrl-C')) return;
    served.push(fetch(`${url}/v1/collections?limit=10`).then((response) => response.json()));
  };
  const args = ['--pace', '0', '--orders', '20', '--actions', '25', '--chains', 'base'];
  const { code, stdout: output } = await run(args, readServed);
  assert.equal(code, 0);
  assert.match(output, /^base runs on http:\/\/127\.0\.0\.1:\d+, chain id 8453$/m);
  assert.match(output, /^ {2}2\d orders listed in 3 collections$/m);
  assert.doesNotMatch(output, /rejected/);
  assert.equal(output.split('Stop: Ctrl-C')[1]?.match(/^base \d+ {2}/gm)?.length, 25);
  const [response] = (await Promise.all(served)) as { data: { chain: string }[] }[];
  assert.deepEqual(
    response?.data.map(({ chain }) => chain),
    ['base', 'base', 'base'],
  );
  assert.deepEqual(leftovers(), []);
});

test('a port that is in use is reported before anything is started', async () => {
  const occupant = net.createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  const { port } = occupant.address() as net.AddressInfo;
  const { code, stdout, stderr } = await run(['--port', String(port)]);
  occupant.close();
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}`));
  assert.deepEqual(leftovers(), []);
});

test('an invalid option makes devnet exit with 2 and name the option', async () => {
  const cases: [string[], RegExp][] = [
    [['--chains', 'solana'], /--chains takes ethereum, /],
    [['--actions', 'many'], /--actions .* must be a whole number/],
    [['--speed', '9'], /--speed/],
  ];
  for (const [args, reason] of cases) {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, reason);
  }
});
