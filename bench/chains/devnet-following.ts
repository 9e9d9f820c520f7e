// Measures how fast the history of a local chain with the real Seaport contract is read, stored and projected, because
// the other benchmarks of followed chains use a synthetic chain. Each token of a collection is minted, listed and bought. The figures include
// the time that the chain's endpoint takes.

import { follow, followWorld, startLocalWorld } from '../../test/support/chain/followed-collection.ts';
import { onEachEngine } from '../support/databases.ts';
import { timeMs } from '../support/measure.ts';
import { judge } from '../support/verdict.ts';

const TOKENS = 400;

export async function benchDevnetFollowing(): Promise<void> {
  const world = await startLocalWorld();
  try {
    const [seller, buyer] = world.people;
    const tokens = Array.from({ length: TOKENS }, (_, index) => BigInt(index + 1));
    await world.mint(seller, ...tokens);
    await world.approve(seller);
    for (const tokenId of tokens)
      await world.act(world.fillCall(await world.sign(0, { tokenId, price: 1_000n }), buyer));
    await onEachEngine(async (database) => {
      const following = followWorld({ main: database, indexer: database }, world);
      await follow(database, world);
      const ms = await timeMs(() => following.settle());
      following.reader.close();
      const [counts] = await database.query<{ events: number; sales: number; bought: number }>(
        `select (select count(*)::int from main.chain_event) as events, (select count(*)::int from indexer.sale) as sales,
           (select count(*)::int from indexer.token where owner = $1) as bought`,
        [buyer],
      );
      const { events = 0, sales = 0, bought = 0 } = counts ?? {};
      judge({
        name: `history of a local chain with Seaport, ${database.engine}`,
        figure: (events / ms) * 1_000,
        unit: 'events/s',
        rounds: [],
        aim: null,
        failures: 2 * TOKENS - sales - bought,
        beside: `${events} events, ${sales} sales, ${bought} of ${TOKENS} tokens at their buyer`,
      });
    });
  } finally {
    await world.chain.stop();
  }
}
