// `mercat devnet` starts all of it, is followed by its own service, and leaves nothing behind.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import { Writable } from 'node:stream';
import { test } from 'node:test';
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

const leftovers = () => readdirSync(os.tmpdir()).filter((name) => name.startsWith('mercat-devnet-'));

test('devnet lists signed orders, lives, is served, and ends', async () => {
  const before = leftovers();
  const served: Promise<unknown>[] = [];
  const look = (output: string) => {
    const url = /serves on (\S+)\n/.exec(output)?.[1];
    if (served.length > 0 || url === undefined || !output.includes('Stop: Ctrl-C')) return;
    served.push(fetch(`${url}/v1/collections?limit=10`).then((response) => response.json()));
  };
  const args = ['--port', '0', '--pace', '0', '--orders', '20', '--actions', '25', '--chains', 'base'];
  const [code, output] = await run(args, look);
  assert.equal(code, 0);
  assert.match(output, /^base runs on http:\/\/127\.0\.0\.1:\d+, chain id 8453$/m);
  assert.match(output, /^ {2}2\d orders listed in 3 collections$/m);
  assert.doesNotMatch(output, /refused/);
  assert.equal(output.split('Stop: Ctrl-C')[1]?.match(/^base \d+ {2}/gm)?.length, 25);
  const [answer] = (await Promise.all(served)) as { data: { chain: string }[] }[];
  assert.deepEqual(
    answer?.data.map(({ chain }) => chain),
    ['base', 'base', 'base'],
  );
  assert.deepEqual(leftovers(), before);
});

test('devnet names what it does not understand', async () => {
  const isUsage = (pattern: RegExp) => (error: unknown) =>
    error instanceof OperatorError && error.exitCode === 2 && pattern.test(error.message);
  await assert.rejects(run(['--chains', 'solana']), isUsage(/--chains takes ethereum, /));
  await assert.rejects(run(['--actions', 'many']), isUsage(/--actions must be a whole number/));
  await assert.rejects(run(['--speed', '9']), isUsage(/--speed/));
});
