// Two processes start at the same time on a new database.

import assert from 'node:assert/strict';
import { startOwnPostgres } from '../../test/support/engines/postgres-server.ts';
import { freePort } from '../../test/support/free-port.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import { until } from '../../test/support/until.ts';
import type { Fault, FaultContext } from '../fault.ts';
import { Program } from '../program.ts';

const START_LIMIT_MS = 240_000;

export const fault: Fault = {
  name: 'two-starts',
  promise:
    'on PostgreSQL both processes start, and only one of them creates the schema; on the embedded engine one process starts, and the other process ends with a message that names the data directory',
  engines: ['embedded', 'postgresql'],
  run: async (context) => (context.engine === 'embedded' ? startTwoEmbedded(context) : startTwoOnPostgres(context)),
};

async function startTwoEmbedded({ onEnd }: FaultContext): Promise<string[]> {
  const directory = temporaryDirectory();
  const pair = await startPair({ DATA_DIR: directory }, onEnd);
  await until(() => pair.some(({ isRunning }) => !isRunning), START_LIMIT_MS, 'both processes run');
  const [ended, ...others] = pair.toSorted((a, b) => Number(a.isRunning) - Number(b.isRunning));
  await Promise.all(others.map((one) => one.written('serves on', START_LIMIT_MS)));
  assert.equal(ended?.exitCode, 1);
  const message = ended.lines.filter((line) => line.startsWith('mercat:'));
  assert.equal(message.length, 1);
  // The process id is missing if the other process has not written it yet.
  assert.match(message[0] ?? '', /^mercat: the data directory \S+ is in use by another process( \(pid \d+\))?:/);
  return [`the other process wrote: ${message[0]}`];
}

async function startTwoOnPostgres({ onEnd }: FaultContext): Promise<string[]> {
  const server = await startOwnPostgres();
  onEnd(() => server.discard());
  const pair = await startPair({ DATABASE_URL: server.url }, onEnd);
  await Promise.all(pair.map((one) => one.written('serves on', START_LIMIT_MS)));
  const written = pair.flatMap(({ lines }) => lines.filter((line) => /"level":"(warn|error)"/.test(line)));
  assert.deepEqual(written, []);
  return ['both serve'];
}

async function startPair(settings: Record<string, string>, onEnd: FaultContext['onEnd']): Promise<Program[]> {
  const ports = [await freePort(), await freePort()];
  const pair = ports.map((port) => {
    const own = { PRICE_SOURCES: 'none', DATA_DIR: temporaryDirectory(), ...settings, PORT: String(port) };
    return new Program(['serve', '--no-sample'], own);
  });
  onEnd(() => Promise.all(pair.map((one) => one.end('SIGKILL'))));
  for (const one of pair) one.launch();
  return pair;
}
