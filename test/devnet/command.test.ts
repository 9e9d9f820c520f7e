// `mercat devnet` starts chains, a simulation and a service that follows them, and leaves nothing behind.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { after, test } from 'node:test';
import { devnetCommand } from '../../src/cli/devnet.ts';
import { OperatorError } from '../../src/core/errors.ts';

async function run(args: string[], onText: (text: string) => void = () => undefined): Promise<[number, string]> {
  let output = '';
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      output += chunk.toString();
      onText(output);
      done();
    },
  });
  const { signal } = new AbortController();
  return [await devnetCommand.run(args, { stdout, stderr: stdout, signal }), output];
}

// A directory of this test alone: other processes put theirs into the system's.
const directory = mkdtempSync(path.join(os.tmpdir(), 'devnet-test-'));
process.env['TMPDIR'] = directory;
after(() => rmSync(directory, { recursive: true }));
const leftovers = () => readdirSync(directory);

test('devnet lists signed orders, trades, serves them on a free port, and ends', async () => {
  const served: Promise<unknown>[] = [];
  const readServed = (output: string) => {
    const url = /serves on (\S+)\n/.exec(output)?.[1];
    if (served.length > 0 || url === undefined || !output.includes('Stop: Ctrl-C')) return;
    served.push(fetch(`${url}/v1/collections?limit=10`).then((response) => response.json()));
  };
  const args = ['--pace', '0', '--orders', '20', '--actions', '25', '--chains', 'base'];
  const [code, output] = await run(args, readServed);
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

test('a port that is taken is reported before anything is started', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as net.AddressInfo;
  let output = '';
  await assert.rejects(
    run(['--port', String(port)], (text) => (output = text)),
    (error) => error instanceof OperatorError && error.message.includes(`cannot listen on 127.0.0.1:${port}`),
  );
  taken.close();
  assert.equal(output, '');
  assert.deepEqual(leftovers(), []);
});

test('arguments that are not valid are named', async () => {
  const isUsage = (pattern: RegExp) => (error: unknown) =>
    error instanceof OperatorError && error.exitCode === 2 && pattern.test(error.message);
  await assert.rejects(run(['--chains', 'solana']), isUsage(/--chains takes ethereum, /));
  await assert.rejects(run(['--actions', 'many']), isUsage(/--actions must be a whole number/));
  await assert.rejects(run(['--speed', '9']), isUsage(/--speed/));
});
