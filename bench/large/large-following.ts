// Measures how many events per second are stored while a chain is followed. Compares the rate on a database with the large set and the rate on a
// database with 1 % of the set (bench/large.ts has the settings of the set). The followed collections are those of the first listings that the
// database returns, so most of them are large. Before the first round, the log has a mint of each token of these collections, and the listings
// of the collections count as judged. The blocks have sales through Seaport and other transfers of random tokens of these collections, from
// their current owners to owners of other tokens. If the sold token has an active listing with an order hash, the sale fills this listing. At
// the end the collections are no longer followed, and the log and the holdings are empty again. The sales, the owners and the filled listings
// remain in the set, as after an import.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findLastSeq } from '../../src/market/chain-log/queries/chain-events.ts';
import { insertChainCursor } from '../../src/market/chain-log/queries/chain-cursors.ts';
import type { FollowContext } from '../../src/sources/chains/follower.ts';
import { followOnce } from '../../src/sources/chains/follower.ts';
import { upsertJudgedCollections } from '../../src/sources/chains/queries/judged-collections.ts';
import { findProjectedPosition, updateProjectedPosition } from '../../src/sources/chains/queries/projection.ts';
import type { Address } from '../../src/platform/core/address.ts';
import { upsertFollow } from '../../src/market/follows/queries/follows.ts';
import type { Database, Queryable } from '../../src/platform/database/port.ts';
import { Random } from '../../sample/random.ts';
import { canStartPostgres } from '../../test/support/engines/postgres-server.ts';
import type { Account } from '../chains/chain-logs.ts';
import { encodeFill, transferTopics } from '../chains/chain-logs.ts';
import { hashOf, toLogText, word } from '../chains/chain-node.ts';
import { CHAIN, drain, openFollower, openProjection } from '../chains/follower.ts';
import type { LargeDatabase } from './large-databases.ts';
import { withLargeDatabases } from './large-databases.ts';
import { median, say, timeMs } from '../support/measure.ts';
import type { StoredChain } from '../chains/synthetic.ts';
import { PROTOCOL, startStoredChain } from '../chains/synthetic.ts';
import { judge, recordUnmeasured } from '../support/verdict.ts';

const ROUNDS = 5;
/** The number of blocks in a round, and of sales and other transfers in a block. A sale consists of a fill and a transfer. */
const SHAPE = { blocks: 300, sales: 5, transfers: 10 };
const EVENTS_A_ROUND = SHAPE.blocks * (2 * SHAPE.sales + SHAPE.transfers);
/** The lowest accepted rate on the complete set, as a share of the rate on 1 % of the set. */
const RATE_AIM = 1 / 1.3;
/** The number of listings that are read. The collections of these listings are followed. */
const LISTINGS_DRAWN = 300;
/** The mints are in blocks before this one. */
const FIRST_BLOCK = 100_000_000;
const MINTS_A_BLOCK = 200;

export async function benchLargeFollowing(): Promise<void> {
  if (!canStartPostgres()) return recordUnmeasured('large set, following', 'needs PostgreSQL on this machine');
  await withLargeDatabases(async ({ all, part }) => {
    const seed = `following ${Date.now()}`;
    const opened: Side[] = [];
    const dir = mkdtempSync(path.join(os.tmpdir(), 'mercat-bench-'));
    try {
      for (const set of [all, part]) opened.push(await openSide(set, { seed, dir }));
      await compareSides(opened);
    } finally {
      for (const side of opened) await side.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

/** `next`: follows the blocks of the next round. */
type Side = { next: () => Promise<Round>; collections: number; close: () => Promise<void> };

/** The CPU times are of the round, in milliseconds. */
type Round = { eventsPerSecond: number; cpuMs: number; databaseCpuMs: number };

async function compareSides(sides: readonly Side[]): Promise<void> {
  const rounds: Round[][] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const measured: Round[] = [];
    for (const side of sides) measured.push(await side.next());
    // The first round prepares statements and connections, so it does not count.
    if (round > 0) rounds.push(measured);
  }
  const valuesOf = (read: (round: Round) => number) =>
    sides.map((_, side) => rounds.map((round) => (round[side] ? read(round[side]) : Number.NaN)));
  const [all = [], part = []] = valuesOf(({ eventsPerSecond }) => eventsPerSecond);
  const ratios = all.map((rate, round) => rate / (part[round] ?? Number.NaN));
  const medians = (read: (round: Round) => number, digits: number) =>
    valuesOf(read)
      .map((values) => median(values).toFixed(digits))
      .join(' and ');
  judge({
    name: 'large set, following, rate on all as a share of the rate on 1 %',
    figure: median(ratios),
    unit: '',
    rounds: ratios,
    aim: { atLeast: Number(RATE_AIM.toFixed(2)) },
    beside:
      `${medians(({ eventsPerSecond }) => eventsPerSecond, 0)} events/s of ${sides.map((side) => side.collections).join(' and ')} collections; ` +
      `CPU time for 1,000 events: this process ${medians(({ cpuMs }) => (cpuMs * 1_000) / EVENTS_A_ROUND, 1)} ms, ` +
      `the database ${medians(({ databaseCpuMs }) => (databaseCpuMs * 1_000) / EVENTS_A_ROUND, 1)} ms`,
  });
}

async function openSide(set: LargeDatabase, { seed, dir }: { seed: string; dir: string }): Promise<Side> {
  const { database, size } = set;
  const project = openProjection(database);
  // An earlier run may have been interrupted.
  await leave(database, project);
  const followed = await listFollowed(database);
  const ms = await timeMs(() => begin(database, followed));
  const file = path.join(dir, `blocks-${size.collections}`);
  writeBlocks(file, await listOwnedTokens(database, followed, seed), new Random(seed));
  const chain = await startStoredChain(FIRST_BLOCK, file);
  const context = openFollower(database, [chain.url]);
  // Stores the holders of each collection.
  const settled = await timeMs(() => drain(project));
  say(
    `${followed.length} collections are followed: the log was stored in ${(ms / 1_000).toFixed(0)} s, the holders in ${(settled / 1_000).toFixed(0)} s`,
  );
  let head = FIRST_BLOCK - 1;
  return {
    collections: followed.length,
    next: () => {
      head += SHAPE.blocks;
      return followTo(head, { set, chain, context, project });
    },
    close: async () => {
      context.reader.close();
      chain.stop();
      await leave(database, project);
    },
  };
}

async function followTo(
  head: number,
  {
    set,
    chain,
    context,
    project,
  }: { set: LargeDatabase; chain: StoredChain; context: FollowContext; project: () => Promise<boolean> },
): Promise<Round> {
  const before = await countEvents(set.database);
  await chain.setHead(head);
  const [own, ofDatabase] = [process.cpuUsage(), await set.cpuMs()];
  const databaseBefore = ofDatabase();
  const ms = await timeMs(async () => {
    while ((await followOnce(context)).more) await project();
    await drain(project);
  });
  const databaseCpuMs = ofDatabase() - databaseBefore;
  const { user, system } = process.cpuUsage(own);
  const stored = (await countEvents(set.database)) - before;
  if (stored !== EVENTS_A_ROUND) throw new Error(`${stored} of ${EVENTS_A_ROUND} events were stored`);
  return { eventsPerSecond: EVENTS_A_ROUND / (ms / 1_000), cpuMs: (user + system) / 1_000, databaseCpuMs };
}

async function countEvents(database: Database): Promise<number> {
  const [row] = await database.query(
    `select count(*)::int as events from main.chain_event where chain = $1 and block_number >= $2`,
    [CHAIN, FIRST_BLOCK],
  );
  return Number(row?.['events']);
}

type Followed = { collectionId: string; contractAddress: string };

async function listFollowed(database: Database): Promise<Followed[]> {
  const rows = await database.query(
    `select id, contract_address from main.collection where id in (
       select collection_id from (select collection_id from indexer.listing where chain = $1 limit $2) as drawn)
     order by id`,
    [CHAIN, LISTINGS_DRAWN],
  );
  if (rows.length === 0) throw new Error(`the set has no collection on ${CHAIN}; LARGE_SHARE must be at least 0.04`);
  return rows.map((row) => ({
    collectionId: String(row['id']),
    contractAddress: String(row['contract_address']).toLowerCase(),
  }));
}

/** Stores the rows that exist after a follower has read all blocks before FIRST_BLOCK and the indexer has received the complete log. */
async function begin(database: Database, followed: readonly Followed[]): Promise<void> {
  const ids = followed.map(({ collectionId }) => collectionId);
  const now = Date.now();
  await inOneTransaction(database, async (tx) => {
    await tx.query(
      `insert into main.chain_event (chain, block_number, log_index, part, block_time, tx, kind, contract, token_id, account, details)
       select $1, number / ${MINTS_A_BLOCK}, number % ${MINTS_A_BLOCK}, 0, to_timestamp(number / ${MINTS_A_BLOCK}),
         '0x' || md5('mint ' || number) || md5('log ' || number), 'transfer', contract, asset, $3::text,
         jsonb_build_object('contract', contract, 'tokenId', asset, 'from', $3::text, 'to', owner, 'quantity', '1')
       from (
         select row_number() over () as number, lower(contract_address) as contract, asset, owner
         from indexer.token join main.collection on id = collection_id where collection_id = any($2) and owner is not null
       ) as owned`,
      [CHAIN, ids, `0x${'0'.repeat(40)}`],
    );
    await tx.query(
      `insert into main.holding (collection_id, token_id, holder, quantity)
       select collection_id, asset, owner, 1 from indexer.token where collection_id = any($1) and owner is not null`,
      [ids],
    );
    await insertChainCursor(tx, CHAIN, { number: FIRST_BLOCK - 1, hash: hashOf(FIRST_BLOCK - 1), time: now }, now);
    for (const { collectionId, contractAddress } of followed) {
      const address = contractAddress as Address;
      const follow = {
        collectionId,
        chain: CHAIN,
        contractAddress: address,
        standard: 'erc721',
        fromBlock: 1,
      } as const;
      await upsertFollow(tx, { ...follow, names: new Map(), createdAt: now });
    }
    await tx.query(`update main.follow set joined = true`);
    const seq = await findLastSeq(tx, CHAIN);
    const judged = { state: 'joined', followedAt: now, joinedSeq: seq, after: null } as const;
    await upsertJudgedCollections(
      tx,
      CHAIN,
      ids.map((collectionId) => ({ collectionId, ...judged })),
    );
    await updateProjectedPosition(tx, CHAIN, { from: await findProjectedPosition(tx, CHAIN), to: seq });
  });
  for (const table of ['chain_event', 'holding', 'follow']) await database.query(`analyze main.${table}`);
}

async function inOneTransaction(database: Database, work: (tx: Queryable) => Promise<void>): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('set local statement_timeout = 0');
    await work(tx);
  });
}

/** Ends the following of all collections. The projection makes their dormant listings visible again, and counts their holders again. */
async function leave(database: Database, project: () => Promise<boolean>): Promise<void> {
  await database.query(`delete from main.follow`);
  await drain(project);
  await database.query(
    `truncate main.chain_cursor, main.chain_block, main.chain_event, main.chain_reorg, main.holding, main.operator_approval,
       main.token_approval, main.offerer_counter`,
  );
  await database.query(`delete from indexer.judged_collection where chain = $1`, [CHAIN]);
  await database.query(`delete from indexer.chain_cursor where chain = $1`, [CHAIN]);
}

/** `orderHash`: the order hash of an active listing of the token. Null if no active listing of the token has an order hash. */
type OwnedToken = { contract: Account; tokenId: bigint; owner: Account; orderHash: `0x${string}` | null };

/** Random tokens of the followed collections, as many as the rounds need, or all tokens if there are fewer. */
async function listOwnedTokens(
  database: Database,
  followed: readonly Followed[],
  seed: string,
): Promise<[OwnedToken, ...OwnedToken[]]> {
  const rows = await database.query(
    `select lower(contract_address) as contract, asset, owner, (
       select order_hash from indexer.listing where listing.collection_id = drawn.collection_id and listing.asset = drawn.asset
         and status = 'active' and order_hash is not null and (expires_at is null or expires_at > now()) limit 1) as order_hash
     from (
       select collection_id, asset, owner from indexer.token where collection_id = any($1) and owner is not null
       order by md5(collection_id || asset || $2) limit $3
     ) as drawn join main.collection on id = collection_id`,
    [
      followed.map(({ collectionId }) => collectionId),
      seed,
      (ROUNDS + 1) * SHAPE.blocks * (SHAPE.sales + SHAPE.transfers),
    ],
  );
  const [first, ...others] = rows.map((row): OwnedToken => ({
    contract: row['contract'] as Account,
    tokenId: BigInt(String(row['asset'])),
    owner: row['owner'] as Account,
    orderHash: row['order_hash'] as OwnedToken['orderHash'],
  }));
  if (!first) throw new Error('the followed collections have no tokens');
  return [first, ...others];
}

/** Writes the blocks of all rounds. The tokens move in the given order. After the last token, the first one moves again. */
function writeBlocks(file: string, tokens: readonly [OwnedToken, ...OwnedToken[]], random: Random): void {
  let moved = 0;
  const takeToken = () => tokens[moved++ % tokens.length] ?? tokens[0];
  const lines = Array.from({ length: (ROUNDS + 1) * SHAPE.blocks }, (_, number) => {
    const block = FIRST_BLOCK + number;
    const logs: string[] = [];
    for (let move = 0; move < SHAPE.sales + SHAPE.transfers; move += 1) {
      const token = takeToken();
      const { contract, tokenId, owner: from } = token;
      const to = random.pick(tokens).owner;
      const tx = logs.length;
      if (move < SHAPE.sales) {
        const orderHash = token.orderHash ?? (`0x${word(block * 1_000 + move)}` as const);
        const price = BigInt(random.integer(1, 900)) * 10n ** 16n;
        const fill = encodeFill({ orderHash, offerer: from, recipient: to, contract, tokenId, price });
        logs.push(toLogText({ block, index: logs.length, address: PROTOCOL, ...fill }, tx));
        token.orderHash = null;
      }
      const topics = transferTopics({ from, to, tokenId });
      logs.push(toLogText({ block, index: logs.length, address: contract, topics, data: '0x' }, tx));
      token.owner = to;
    }
    return `[${logs.join(',')}]`;
  });
  writeFileSync(file, `${lines.join('\n')}\n`);
}
