// Tests a backfill that needs several transactions, a backfill during which the endpoints replace the newest blocks, and the time at which a
// task reports the changes of a chain.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findChainCursor } from '../../../src/market/chain-log/queries/chain-cursors.ts';
import { backfillOnce } from '../../../src/sources/chains/backfill.ts';
import type { FollowContext } from '../../../src/sources/chains/follower.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { createChainTasks } from '../../../src/sources/chains/task.ts';
import type { AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Change } from '../../../src/platform/core/collection-versions.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { findFollow, upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { toEvmAddress } from '../../../sample/random.ts';
import type { ScriptedEvent } from '../../support/chain/scripted-chain.ts';
import { ScriptedChain } from '../../support/chain/scripted-chain.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { NOW, toContext } from '../../support/service/intake.ts';
import { until } from '../../support/until.ts';

const ethereum = createChains().get('ethereum') ?? assert.fail();
const CONTRACT = toEvmAddress('lamps');
const COLLECTION = `ethereum_${CONTRACT}`;
const OWNER = toEvmAddress('owner');
/** Two blocks make one part: a part is stored when it has 5,000 events or more and its last block is complete. */
const MINTS_OF_BLOCK = 2_600;
const WAIT_MS = 30_000;

forEachEngine('a backfill', (engine) => {
  const start = async () => {
    const db = await engine.open();
    const chain = new ScriptedChain(ethereum, NOW);
    const contextOf = (main: Database): FollowContext => ({
      ...toContext(main, { clock: () => NOW }),
      reader: chain.reader,
      protocols: new Map(),
    });
    await upsertFollow(db, {
      collectionId: COLLECTION,
      chain: 'ethereum',
      contractAddress: CONTRACT,
      standard: 'erc721',
      fromBlock: 0,
      names: new Map(),
      createdAt: NOW,
    });
    const readTo = async () => (await findFollow(db, COLLECTION))?.readToBlock ?? null;
    /** The numbers of stored events and of held tokens. */
    const counts = async () => {
      const [row] = await db.query(
        `select (select count(*)::int from main.chain_event) as events, (select count(*)::int from main.holding) as held`,
      );
      return row;
    };
    return { db, chain, context: contextOf(db), contextOf, readTo, counts };
  };
  const mint = (tokenId: number): ScriptedEvent => ({
    kind: 'transfer',
    contract: CONTRACT,
    tokenId: `${tokenId}` as AssetId,
    from: ZERO_ADDRESS,
    to: OWNER,
    quantity: 1n,
  });
  /** Mines blocks of new tokens. */
  const mintIn = (chain: ScriptedChain, blocks: number) => {
    for (let block = 0; block < blocks; block += 1) {
      const first = chain.height * MINTS_OF_BLOCK;
      chain.mine(Array.from({ length: MINTS_OF_BLOCK }, (_, index) => mint(first + index)));
    }
  };

  test('a backfill reports each part of a slice when the part is stored, and continues after the last stored part if the process was killed', async () => {
    const { db, chain, context, contextOf, readTo, counts } = await start();
    mintIn(chain, 5);
    await followOnce(context);
    const total = 5 * MINTS_OF_BLOCK;
    let commits = 0;
    const killed: Database = {
      ...db,
      transaction: (work) => {
        if (commits === 1) return Promise.reject(new Error('killed'));
        commits += 1;
        return db.transaction(work);
      },
    };
    const reported: Promise<number | null>[] = [];
    const onStored = (collectionIds: ReadonlySet<string>) => {
      assert.deepEqual([...collectionIds], [COLLECTION]);
      reported.push(readTo());
    };
    await backfillOnce(contextOf(killed), onStored);
    assert.deepEqual(await Promise.all(reported), [2]);
    assert.equal(await readTo(), 2);
    assert.deepEqual(await counts(), { events: 2 * MINTS_OF_BLOCK, held: 2 * MINTS_OF_BLOCK });

    while ((await backfillOnce(context, onStored)).more);
    assert.equal(reported.length, 3, 'the number of reports is not the number of parts');
    assert.deepEqual(await counts(), { events: total, held: total });
    assert.equal((await findFollow(db, COLLECTION))?.joined, true);
  });

  test('a backfill reads the next slice while the first one is stored, even if the first one took a minute to read', async (t) => {
    const { chain, context } = await start();
    for (let block = 0; block < 4; block += 1) chain.mine([mint(block)]);
    await followOnce(context);
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const { events } = chain.reader;
    const readRange = events.ofRange.bind(events);
    const steps: string[] = [];
    t.mock.method(events, 'ofRange', (...[from, to, filter]: Parameters<typeof readRange>) => {
      steps.push(`read from ${from}`);
      if (from === 0) now += 60_000;
      return readRange(from, Math.min(to, from + 1), filter);
    });
    await backfillOnce(context, () => steps.push('stored'));
    assert.deepEqual(steps.slice(0, 3), ['read from 0', 'read from 2', 'stored']);
  });

  test('a backfill stores nothing of a slice that ends at the cursor, if the endpoints have replaced the block of the cursor', async () => {
    const { db, chain, context, readTo, counts } = await start();
    chain.mine([mint(1)]);
    chain.mine([mint(2)]);
    await followOnce(context);
    chain.rollBack(1);
    chain.mine([mint(3)]);
    assert.deepEqual(await backfillOnce(context), { changed: new Set(), more: false });
    assert.equal(await readTo(), null);
    while ((await followOnce(context)).more);
    while ((await backfillOnce(context)).more);
    assert.equal((await findChainCursor(db, 'ethereum'))?.number, 2);
    assert.deepEqual(await counts(), { events: 2, held: 2 });
    assert.equal((await findFollow(db, COLLECTION))?.joined, true);
  });

  test('the task reports a backfilled change and a new change without waiting for their copies to the indexer', async () => {
    const { db, chain } = await start();
    const copying = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const changes: Change[] = [];
    let copies = 0;
    const { followed } = toContext(db);
    followed.readerOf = (chainId) => (chainId === 'ethereum' ? chain.reader : null);
    // The projection would report changes too. It cannot, because its database fails.
    const fail = () => Promise.reject(new Error('out of reach'));
    const indexer: Database = { ...db, query: fail, queryPrepared: fail, transaction: fail, within: () => indexer };
    const context = {
      ...toContext(db, { indexer, settings: { CHAIN_POLL_MS: '50' } }),
      followed,
      onChanged: (change: Change) => void changes.push(change),
      copyCatalog: async () => {
        copies += 1;
        await copying[copies - 1]?.promise;
      },
    };
    const [task] = createChainTasks({ ...context, chains: new Map([['ethereum', ethereum]]) });
    const stopping = new AbortController();
    chain.mine([mint(1)]);
    const running = task?.run(stopping.signal, () => undefined, { isFull: false });
    try {
      await until(() => copies === 1, WAIT_MS, 'the past change is not copied');
      assert.deepEqual(
        changes.map(({ collectionIds }) => [...collectionIds]),
        [[COLLECTION]],
      );
      copying[0]?.resolve();
      chain.mine([mint(2)]);
      await until(() => copies === 2, WAIT_MS, 'the new change is not copied');
      // The first change was reported before and after its copy. The second was reported once, because its copy has not ended.
      assert.equal(changes.length, 3);
    } finally {
      stopping.abort();
      for (const { resolve } of copying) resolve();
      await running;
    }
  });
});
