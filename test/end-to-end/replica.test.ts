// The example `local-replica` copies a market that changes. Two processes of the service share one PostgreSQL and follow a local chain: orders of
// ERC-721 and ERC-1155 tokens, several orders of one token, sweeps, bundles and reorganisations. The processes of the service and of the
// replicas are killed at random times, a collection is purged, and a backup from before is restored. After each kill, each SQLite file must equal
// what the interfaces serve, row for row. `npm run test:replica` runs this test for a longer
// time, with more kills and restores. REPLICA_SEED sets the random seed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createMarketClient } from '../../client/src/market.ts';
import { createRandom } from '../../devnet/random.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { canRunPostgres } from '../support/engines/postgres-server.ts';
import { programEnvironment } from '../support/program-environment.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { startLiveMarket } from './stream/live-market.ts';
import type { CopiedCollection, Rows } from './stream/market-copy.ts';
import { findDifferences, readSnapshot, toRows } from './stream/market-copy.ts';
import { ReplicaProcess } from './stream/replica-process.ts';

const SEED = Number(process.env['REPLICA_SEED'] ?? 1);
const REPLICAS = Number(process.env['REPLICA_PROCESSES'] ?? 2);
const KILLS = Number(process.env['REPLICA_KILLS'] ?? 4);
const RESTORES = Number(process.env['REPLICA_RESTORES'] ?? 1);
const BOOK_SIZE = 60;
const BLOCKS_PER_ROUND = 6;
const REORG_DEPTH_MAX = 8;
/** A process is killed within this time after the beginning of a round. */
const KILLED_WITHIN_MS = 2_000;
/** Only a service that hangs needs longer than this. */
const LIMIT_MS = 180_000;
const DIFFERENCES_PRINTED = 20;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

after(cleanUp);

test('SQLite copies made by the client equal what the interfaces serve, over reorganisations, kills, a purge and a restore', async (t) => {
  if (!canRunPostgres() && process.env['REQUIRE_POSTGRES'] !== '1') return t.skip('PostgreSQL is not on this machine');
  const live = await startLiveMarket(t, {
    seed: SEED,
    bookSize: BOOK_SIZE,
    settings: { RATE_LIMITS_EXEMPT: '127.0.0.0/8' },
  });
  const { nodes, simulation, book, collections } = live;
  const random = createRandom(SEED * 11);
  const inSnapshot = book.slice(0, Math.ceil(book.length / 2));
  await simulation.post(inSnapshot);
  const replicas: ReplicaProcess[] = [];
  live.atEnd(() => Promise.all(replicas.map((replica) => replica.stop())));
  for (let index = 0; index < REPLICAS; index += 1)
    replicas.push(await ReplicaProcess.start(nodes.urls[index % nodes.urls.length] ?? '', collections));
  await simulation.post(book.filter((listing) => !inSnapshot.includes(listing)));

  const runProgram = async (...args: string[]) => {
    const env = { ...programEnvironment(), ...live.databases, DATA_DIR: temporaryDirectory(), LOG_LEVEL: 'error' };
    await promisify(execFile)(process.execPath, [MAIN, ...args], { env, timeout: LIMIT_MS });
  };
  const trade = async () => {
    for (let block = 0; block < BLOCKS_PER_ROUND; block += 1) await simulation.step();
    await live.waitUntilFollowed();
    await simulation.reorganise(Math.min(1 + random.below(REORG_DEPTH_MAX), simulation.reorgDepth()));
  };
  const compareAll = async (served: readonly CopiedCollection[], when: string) => {
    await live.waitUntilFollowed();
    const market = createMarketClient({ baseUrl: nodes.urls[0] ?? '' });
    let rows = 0;
    for (const replica of replicas) {
      let differences: string[] = [];
      const isEqual = async () => {
        const copied = replica.rows();
        if (copied === null) return false;
        const expected = await readServed(market, served);
        differences = findDifferences(copied, expected);
        rows = Object.values(expected).flat().length;
        return differences.length === 0;
      };
      await until(isEqual, LIMIT_MS, `a copy differs ${when}`).catch((error: unknown) => {
        for (const difference of differences.slice(0, DIFFERENCES_PRINTED)) t.diagnostic(difference);
        throw error;
      });
      assert.deepEqual(replica.crashes, [], `a replica ended ${when}`);
    }
    t.diagnostic(`equal ${when}: ${rows} rows`);
  };
  /** Kills a process of one side while the market changes. */
  const killOne = async (round: number) => {
    await delay(random.below(KILLED_WITHIN_MS));
    const index = Math.floor(round / 2);
    if (round % 2 === 1) return replicas[index % REPLICAS]?.without(async () => undefined);
    const killed = index % nodes.urls.length;
    const other = nodes.urls[(killed + 1) % nodes.urls.length] ?? '';
    for (const { proxy } of replicas) {
      proxy.retarget(other);
      proxy.cut();
    }
    await nodes.kill(killed);
  };

  await compareAll(collections, 'at the beginning');
  for (let restores = 0; restores < RESTORES; restores += 1) {
    const backup = path.join(temporaryDirectory(), 'backup');
    const purged = collections[restores % collections.length] ?? assert.fail();
    let served = collections;
    const rounds = Math.ceil(KILLS / RESTORES);
    await runProgram('backup', backup);
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([killOne(round + restores * rounds), trade()]);
      if (round === Math.floor(rounds / 2)) {
        // One of the replicas is away when the collection leaves.
        await replicas[restores % REPLICAS]?.without(() =>
          nodes.operate('collections.remove', { id: purged.id, purge: true }),
        );
        served = collections.filter(({ id }) => id !== purged.id);
      }
      await compareAll(served, `after kill ${restores * rounds + round + 1}`);
    }
    await nodes.without(() => runProgram('restore', backup, '--replace'));
    await trade();
    await compareAll(collections, 'after the restore');
  }
});

async function readServed(
  market: ReturnType<typeof createMarketClient>,
  collections: readonly CopiedCollection[],
): Promise<Rows> {
  const allSales: string[] = [];
  for (const { id } of collections)
    for await (const sale of market.listActivity({ collection: id, kinds: 'sale', limit: 100 }))
      if (sale.voidedBy === null && sale.offset !== null) {
        const { offset, collectionId, tokenId, tx, total, from, to } = sale;
        const fields = [offset, collectionId, tokenId, tx, total?.raw ?? null, from, to];
        allSales.push(fields.filter((field) => field !== null).join(' '));
      }
  return { ...toRows(await readSnapshot(market, collections), collections), 'all sales': allSales, unread: [] };
}
