// `npm run oracle -- --history N`: records a history of N operations on a shop while its service and its database are killed, and judges it. Exit code 1
// means that the history breaks a rule.

import { parseArgs } from 'node:util';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import { checkHistory } from './check.ts';
import { recordHistory } from './run.ts';

export const HISTORY_USAGE =
  'npm run oracle -- --history N [--seed 1] [--engine postgresql|embedded] [--writers 64] [--service-kills 10] [--database-kills 10] [--late 1000]\n';

/** Resolves with the exit code. */
export async function runHistoryCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      history: { type: 'string' },
      seed: { type: 'string', default: '1' },
      engine: { type: 'string', default: 'postgresql' },
      writers: { type: 'string', default: '64' },
      'service-kills': { type: 'string', default: '10' },
      'database-kills': { type: 'string', default: '10' },
      late: { type: 'string', default: '1000' },
    },
  });
  const engine = values.engine === 'embedded' ? 'embedded' : 'postgresql';
  try {
    const history = await recordHistory({
      engine,
      operations: Number(values.history),
      writers: Number(values.writers),
      seed: Number(values.seed),
      serviceKills: Number(values['service-kills']),
      databaseKills: engine === 'embedded' ? 0 : Number(values['database-kills']),
      lateMs: Number(values.late),
      onProgress: (line) => process.stderr.write(`${line}\n`),
    });
    const startedAt = performance.now();
    const { findings, operations, reserved, expired, latestMs } = checkHistory(history);
    for (const finding of findings) process.stdout.write(`${finding}\n`);
    process.stdout.write(
      `${engine}: ${operations} operations in ${history.seconds.toFixed(0)} s, ${reserved} reservations, ${expired} expired, stock back after at most ` +
        `${latestMs} ms, ${history.log.length} log entries, ${history.downtimes.length} kills, judged in ${Math.round((performance.now() - startedAt) / 1_000)} s: ` +
        `${findings.length === 0 ? 'no rule is broken' : 'rules are broken'}\n`,
    );
    return findings.length > 0 ? 1 : 0;
  } finally {
    await cleanUp();
  }
}
