// A program that backfills the followed collection of a simulated chain, and then projects the log. The program runs in a process of its own,
// so that the measured memory and CPU time include no other work. Usage: backfill-process.ts ENGINE ADDRESS CHAIN_URL. The database must be
// migrated, and `begin` of bench/follower.ts must have inserted the follow. Prints one line of JSON of the type BackfillFigures.

import { findFollow } from '../../src/market/follows/queries/follows.ts';
import { backfillOnce } from '../../src/sources/chains/backfill.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { useTarget } from '../support/databases.ts';
import { drain, FOLLOWED_ID, openFollower, openProjection } from './follower.ts';
import type { WorkFigures } from '../support/measure.ts';
import { measureWork, peakMiB } from '../support/measure.ts';

/** `peakMiB`: the largest resident memory of the process until the end of the work. */
type PartFigures = WorkFigures & { peakMiB: number };
export type BackfillFigures = { backfill: PartFigures; projection: PartFigures };

const [engine, address = '', chainUrl = ''] = process.argv.slice(2);

const figures = await useTarget(
  { engine: engine === 'embedded' ? 'embedded' : 'postgresql', address },
  async (database): Promise<BackfillFigures> => {
    const context = openFollower(database, [chainUrl]);
    const backfill = await measurePart(database, async () => {
      while ((await backfillOnce(context)).more) if ((await findFollow(database, FOLLOWED_ID))?.joined) break;
    });
    context.reader.close();
    const projection = await measurePart(database, () => drain(openProjection(database)));
    return { backfill, projection };
  },
);
process.stdout.write(`${JSON.stringify(figures)}\n`);

async function measurePart(database: Database, work: () => Promise<void>): Promise<PartFigures> {
  return { ...(await measureWork(database, work)), peakMiB: peakMiB() };
}
