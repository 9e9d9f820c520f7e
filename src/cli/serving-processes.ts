// The number of serving processes that the settings allow, for `mercat serve` and `mercat doctor`.

import { availableParallelism } from 'node:os';
import type { Config } from '../service/config.ts';
import { OperatorError } from '../platform/core/errors.ts';

/** How many processes serve. Throws OperatorError if several processes lack a database or a counter of rate limits that they can share. */
export function servingProcessesOf({
  servingProcesses,
  databaseUrl,
  redisUrl,
}: Pick<Config, 'servingProcesses' | 'databaseUrl' | 'redisUrl'>): number {
  const processes = servingProcesses === 'auto' ? availableParallelism() : servingProcesses;
  if (processes === 1) return processes;
  if (databaseUrl === null) {
    if (servingProcesses === 'auto') return 1;
    throw new OperatorError(
      `${processes} serving processes need PostgreSQL, because only one process can open the embedded database: ` +
        'set DATABASE_URL, or leave out --workers and WORKERS',
      { exitCode: 2 },
    );
  }
  if (redisUrl === null) {
    throw new OperatorError(
      `${processes} serving processes need Redis, because each would allow every client the complete rate limits: ` +
        'set REDIS_URL, or leave out --workers and WORKERS',
      { exitCode: 2 },
    );
  }
  return processes;
}
