// Compares a backfill with Ponder: both read the same transfers of an ERC-721 collection from the same RPC process and store the owners in
// the same PostgreSQL server. Ponder keeps what it has read, so it is measured twice in each round: with an empty database, and with all data
// of the chain at hand. Mercat keeps no responses, so its one backfill is compared with both. Mercat also stores the log of all events, the
// holdings and the figures of the collection. The start of a program is not counted.

import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { backfillOnce } from '../../src/sources/chains/backfill.ts';
import { findFollow } from '../../src/market/follows/queries/follows.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { createDatabase } from '../../src/platform/database/port.ts';
import { canRunPostgres, createTestDatabase, startPostgres } from '../../test/support/engines/postgres-server.ts';
import { freePort } from '../../test/support/free-port.ts';
import { until } from '../../test/support/until.ts';
import { begin, FOLLOWED_ID } from '../chains/follower.ts';
import { TRANSFERS_A_CALL, withContext } from '../chains/following.ts';
import { median } from '../support/measure.ts';
import { installPeer, startPeer } from './peer.ts';
import type { SyntheticChain } from '../chains/synthetic.ts';
import { COLLECTION, startSyntheticChain } from '../chains/synthetic.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

/** Half of the transfers are mints. The others move a token that was minted in the same block. */
const SHAPE = { blocks: 1_000, fills: 0, transfers: 20, moves: true };
const TRANSFERS = SHAPE.blocks * SHAPE.transfers;
/** Ponder leaves this many last blocks out of its backfill, because they are not final. Its rate does not count the transfers of these blocks. */
const NOT_FINAL_BLOCKS = 65;
const ROUNDS = 3;
/** The time between two checks whether the log of chain events has entries that the indexer does not have yet. */
const PROJECTION_POLL_MS = 50;
const BACKFILL_MS_MAX = 20 * 60_000;

/** `rate`: transfers a second. `calls`: the RPC calls of the backfill. */
type Backfilled = { rate: number; calls: number };

export async function benchPonder(): Promise<void> {
  if (!canRunPostgres()) return recordUnmeasured('ponder', 'needs PostgreSQL on this machine');
  const home = await installPonder();
  const server = await startPostgres({ durable: true });
  const rounds: { mercat: Backfilled; cold: Backfilled; cached: Backfilled }[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const mercat = await backfillWithMercat(await createTestDatabase(server.url));
      const chain = await startSyntheticChain(SHAPE);
      try {
        const databaseUrl = await createTestDatabase(server.url);
        const cold = await backfillWithPonder(home, { databaseUrl, chain, schema: 'cold' });
        const cached = await backfillWithPonder(home, { databaseUrl, chain, schema: 'cached' });
        rounds.push({ mercat, cold, cached });
      } finally {
        chain.stop();
      }
    }
  } finally {
    await server.discard();
  }
  const rateOf = (name: 'mercat' | 'cold' | 'cached') => median(rounds.map((round) => round[name].rate)).toFixed(0);
  for (const [name, data] of [
    ['cold', 'with an empty database'],
    ['cached', 'with all data at hand'],
  ] as const) {
    const ratios = rounds.map((round) => round.mercat.rate / round[name].rate);
    judge({
      name: `backfill of ${TRANSFERS} transfers, rate as a multiple of Ponder ${data}`,
      figure: median(ratios),
      unit: '',
      rounds: ratios,
      aim: { atLeast: 1 },
      beside: `${rateOf('mercat')} and ${rateOf(name)} transfers/s; ${rounds[0]?.mercat.calls} and ${rounds[0]?.[name].calls} RPC calls`,
    });
  }
  const calls = rounds.map(({ mercat }) => TRANSFERS / mercat.calls);
  judge({
    name: `backfill of ${TRANSFERS} transfers, transfers for each RPC call`,
    figure: median(calls),
    unit: '',
    rounds: calls,
    aim: { atLeast: TRANSFERS_A_CALL },
  });
}

/** Reads the blocks and writes the indexer at the same time, as the task of a chain does. */
async function backfillWithMercat(url: string): Promise<Backfilled> {
  const database = createDatabase(new pg.Pool({ connectionString: url }), { engine: 'postgresql', name: 'main' });
  try {
    for (const schema of ['main', 'indexer'] as const) await migrate(database, schema);
    return await withContext(database, SHAPE, async (context, project, chains) => {
      await begin(database, SHAPE.blocks, false);
      const startedAt = performance.now();
      let joined = false;
      const read = async () => {
        while (!joined) {
          await backfillOnce(context);
          joined = (await findFollow(database, FOLLOWED_ID))?.joined ?? false;
        }
      };
      const write = async () => {
        for (let isLast = false; !isLast;) {
          isLast = joined;
          while (await project());
          await delay(PROJECTION_POLL_MS);
        }
      };
      await Promise.all([read(), write()]);
      const ms = performance.now() - startedAt;
      return { rate: (TRANSFERS / ms) * 1_000, calls: (await chains[0]?.countCalls()) ?? 0 };
    });
  } finally {
    await database.close();
  }
}

async function installPonder(): Promise<string> {
  const home = await installPeer('ponder');
  // Ponder prescribes these names.
  mkdirSync(path.join(home, 'src', 'api'), { recursive: true });
  copyFileSync(path.join(home, 'schema.js'), path.join(home, 'ponder.schema.ts'));
  copyFileSync(path.join(home, 'handlers.js'), path.join(home, 'src', 'index.ts'));
  copyFileSync(path.join(home, 'api.js'), path.join(home, 'src', 'api', 'index.ts'));
  return home;
}

async function backfillWithPonder(
  home: string,
  { databaseUrl, chain, schema }: { databaseUrl: string; chain: SyntheticChain; schema: string },
): Promise<Backfilled> {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const program = path.join(home, 'node_modules/ponder/dist/esm/bin/ponder.js');
  const args = [program, 'start', '--config', 'ponder.config.js', '--schema', schema];
  const env = { DATABASE_URL: databaseUrl, RPC_URL: chain.url, COLLECTION, PONDER_LOG_LEVEL: 'error' };
  const calls = await chain.countCalls();
  // Ponder's server responds as soon as the program has been built, before the backfill.
  const server = await startPeer(
    process.execPath,
    [...args, '--hostname', '127.0.0.1', '--port', port],
    home,
    env,
    `${url}/health`,
  );
  try {
    const startedAt = performance.now();
    await until(async () => (await fetch(`${url}/ready`)).ok, BACKFILL_MS_MAX, 'Ponder does not end its backfill');
    const ms = performance.now() - startedAt;
    const transfers = (SHAPE.blocks - NOT_FINAL_BLOCKS) * SHAPE.transfers;
    return { rate: (transfers / ms) * 1_000, calls: (await chain.countCalls()) - calls };
  } finally {
    await server.stop();
  }
}
