// A program that backfills the followed collection of a simulated chain, and then projects the log. The program runs in a process of its own,
// so that the measured memory and CPU time include no other work. Usage: backfill-process.ts ENGINE ADDRESS CHAIN_URL. The database must be
// migrated, and `begin` of bench/follower.ts must have inserted the follow. Prints one line of JSON of the type BackfillFigures.

import { findFollow } from '../src/follows/queries/follows.ts';
import { backfillOnce } from '../src/chains/backfill.ts';
import type { Database } from '../src/database/port.ts';
import { useTarget } from './databases.ts';
import { drain, FOLLOWED_ID, openFollower, openProjection } from './follower.ts';
import { databaseCpuMs, timeMs } from './measure.ts';

/** Times in milliseconds. `peakMiB`: the largest resident memory of the process until the end of the work. */
type WorkFigures = { ms: number; cpuMs: number; databaseCpuMs: number; peakMiB: number };
export type BackfillFigures = { backfill: WorkFigures; projection: WorkFigures };

const [engine, address = '', chainUrl = ''] = process.argv.slice(2);

const figures = await useTarget(
  { engine: engine === 'embedded' ? 'embedded' : 'postgresql', address },
  async (database): Promise<BackfillFigures> => {
    const context = openFollower(database, [chainUrl]);
    const backfill = await measure(database, async () => {
      while ((await backfillOnce(context)).more) if ((await findFollow(database, FOLLOWED_ID))?.joined) break;
    });
    context.reader.close();
    const projection = await measure(database, () => drain(openProjection(database)));
    return { backfill, projection };
  },
);
process.stdout.write(`${JSON.stringify(figures)}\n`);

async function measure(database: Database, work: () => Promise<void>): Promise<WorkFigures> {
  const [own, ofDatabase] = [process.cpuUsage(), await databaseCpuMs(database)];
  const ms = await timeMs(work);
  const { user, system } = process.cpuUsage(own);
  return {
    ms,
    cpuMs: (user + system) / 1_000,
    databaseCpuMs: (await databaseCpuMs(database)) - ofDatabase,
    peakMiB: process.resourceUsage().maxRSS / 1_024,
  };
}
