// `npm run test:citus [FILE…]`: runs the suites with the indexer database on a Citus cluster, several files at a time, each with a cluster of
// its own. The exit code is 0 if tests passed and none failed, 2 if Citus is not installed, and otherwise 1.

import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { CITUS_MISSING, canRunCitus } from './support/engines/citus-node.ts';
import { NOT_ON_CITUS, listCitusSuites } from './support/engines/citus-suites.ts';
import { globalSetup, globalTeardown } from './support/global-setup.ts';

const FILES_AT_A_TIME = 3;

type Skips = Map<string, number>;

async function main(): Promise<number> {
  if (!canRunCitus()) {
    process.stderr.write(`${CITUS_MISSING}\n`);
    return 2;
  }
  process.env['TEST_CITUS'] = '1';
  await globalSetup();
  try {
    return await runSuites();
  } finally {
    await globalTeardown();
  }
}

async function runSuites(): Promise<number> {
  const named = process.argv.slice(2);
  const files = named.length > 0 ? named : listCitusSuites();
  const startedAt = performance.now();
  const skips: Skips = new Map();
  let counts = { passed: 0, skipped: 0, failed: 0 };
  const tests = run({ files, concurrency: FILES_AT_A_TIME });
  tests.on('test:pass', ({ skip }) => {
    if (skip !== undefined && skip !== false) skips.set(String(skip), (skips.get(String(skip)) ?? 0) + 1);
  });
  tests.on('test:summary', ({ file, counts: { tests: all, passed, skipped, todo } }) => {
    // The summary of the run is the one without a file.
    if (file === undefined) counts = { passed, skipped, failed: all - passed - skipped - todo };
  });
  const report = tests.compose(new spec());
  for await (const text of report) process.stdout.write(text);
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  if (named.length === 0) {
    for (const [excluded, reason] of Object.entries(NOT_ON_CITUS))
      process.stdout.write(`not run: ${excluded}, ${reason}\n`);
  }
  for (const [reason, count] of skips) process.stdout.write(`skipped ${count}: ${reason}\n`);
  process.stdout.write(
    `on Citus, ${files.length} files in ${minutes} min: ${counts.passed} tests passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
  );
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}

process.exitCode = await main();
