// Measures the time to read the first page of the collection list among 10,000 collections.

import { listCollections } from '../../src/market/reads/collections.ts';
import { SORTS } from '../../src/market/reads/ranking.ts';
import { onEachEngine } from '../support/databases.ts';
import { createBenchMarket } from '../support/market.ts';
import { median, timeMs } from '../support/measure.ts';
import { manyCollections } from '../support/records.ts';
import { judge } from '../support/verdict.ts';

const COLLECTIONS = 10_000;
const ROUNDS = 9;

export function benchRanking(): Promise<void> {
  return onEachEngine(async (database) => {
    const market = await createBenchMarket(database, manyCollections(COLLECTIONS));
    for (const sort of SORTS) {
      const times: number[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const query = { sort, chain: null, after: null, limit: 25 };
        const ms = await timeMs(() => listCollections(market, query));
        if (round > 0) times.push(ms);
      }
      // Cold: the list is not read through the response cache.
      judge({
        name: `collection list, ${database.engine}, ${COLLECTIONS} collections, sort ${sort}, cold`,
        figure: median(times),
        unit: 'ms',
        rounds: times,
        aim: null,
      });
    }
    await market.close();
  });
}
