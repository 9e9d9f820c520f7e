// The log of chain events, and the holdings, owners and market changes that are derived from the events, on both engines.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { insertMarketChanges } from '../../../src/market/activity/queries/market-changes.ts';
import type { ChainEvent, LoggedEvent, OrderFulfilled, Transfer } from '../../../src/market/chain-log/chain-event.ts';
import { insertChainEvents, listLogEntries } from '../../../src/market/chain-log/queries/chain-events.ts';
import { listOwnership, updateHoldings } from '../../../src/market/chain-log/queries/holdings.ts';
import { toSliceParts } from '../../../src/sources/chains/backfill.ts';
import { toTransferChanges } from '../../../src/sources/chains/transfer-changes.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toTokenId } from '../../../src/platform/core/address.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import type { Database, Queryable } from '../../../src/platform/database/port.ts';
import { lockFigures } from '../../../src/market/index/queries/figures.ts';
import { upsertTokenHolders } from '../../../src/market/index/queries/tokens.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

const CONTRACT = `0x${'c0'.repeat(20)}` as Address;
const HOLDER = `0x${'11'.repeat(20)}` as Address;
const OTHER = `0x${'22'.repeat(20)}` as Address;
const COLLECTION = `ethereum_${CONTRACT}`;

const position = (blockNumber: number, logIndex = 0) => {
  const tx: Hex = `0x${(blockNumber * 1_000 + logIndex).toString(16).padStart(64, '0')}`;
  return { blockNumber, blockTime: 1_700_000_000_000 + blockNumber, tx, logIndex, part: 0 };
};

const transfer = (blockNumber: number, logIndex: number, from: Address, to: Address): Transfer => ({
  ...position(blockNumber, logIndex),
  kind: 'transfer',
  contract: CONTRACT,
  tokenId: toTokenId(7n),
  from,
  to,
  quantity: 1n,
});

const FILL: OrderFulfilled = {
  ...position(3),
  kind: 'order-fulfilled',
  protocol: OTHER,
  orderHash: `0x${'ab'.repeat(32)}`,
  offerer: HOLDER,
  zone: ZERO_ADDRESS,
  recipient: OTHER,
  offer: [{ itemType: 2, token: CONTRACT, identifier: 2n ** 256n - 1n, amount: 1n }],
  consideration: [{ itemType: 0, token: ZERO_ADDRESS, identifier: 0n, amount: 10n ** 30n, recipient: HOLDER }],
  domain: '0x360c6ebe',
};

forEachEngine('the log of chain events', (engine) => {
  let db: Database;
  beforeEach(async () => {
    db = await engine.open();
  });

  const logged = async (): Promise<LoggedEvent[]> =>
    (await listLogEntries(db, 'ethereum', { after: 0, limit: 100 })).flatMap((one) =>
      'event' in one ? [one.event] : [],
    );

  test('events are read unchanged and in the order in which they were added, and a stored event is not added again', async () => {
    const first = [transfer(1, 0, ZERO_ADDRESS, HOLDER), transfer(1, 1, HOLDER, OTHER)];
    assert.deepEqual(await insertChainEvents(db, 'ethereum', first), first);
    const second = [transfer(1, 1, HOLDER, OTHER), FILL];
    assert.deepEqual(await insertChainEvents(db, 'ethereum', second), [FILL]);
    assert.deepEqual(await insertChainEvents(db, 'ethereum', second), []);
    assert.deepEqual(await logged(), [...first, FILL]);
  });

  test('many events are stored by several statements of at most 5,000 rows, and so are their holdings and changes', async () => {
    const count = 10_001;
    const events = Array.from({ length: count }, (_, index) => ({
      ...transfer(1, index, ZERO_ADDRESS, HOLDER),
      tokenId: toTokenId(BigInt(index)),
    }));
    const stored = events[7_000] ?? assert.fail();
    await insertChainEvents(db, 'ethereum', [stored]);
    let statements = 0;
    const counted = (tx: Queryable): Queryable => ({
      ...tx,
      query: (sql, params) => {
        statements += 1;
        return tx.query(sql, params);
      },
    });
    const writes = [
      async (tx: Queryable) => {
        const added = await insertChainEvents(tx, 'ethereum', events);
        assert.deepEqual(
          added,
          events.filter((event) => event !== stored),
        );
      },
      (tx: Queryable) =>
        updateHoldings(
          tx,
          events.map(({ tokenId }) => ({ collectionId: COLLECTION, tokenId, holder: HOLDER, quantity: 1n })),
        ),
      (tx: Queryable) => insertMarketChanges(tx, 'main', toTransferChanges('ethereum', events)),
    ];
    for (const write of writes) {
      statements = 0;
      await db.transaction((tx) => write(counted(tx)));
      assert.equal(statements, 3);
    }
    const [row] = await db.query(
      `select (select count(*)::int from main.chain_event) as events, (select count(*)::int from main.holding) as held,
         (select array_agg(asset::int order by seq) from main.market_change) as changed`,
    );
    assert.deepEqual(row, { events: count, held: count, changed: events.map(({ tokenId }) => Number(tokenId)) });
  });

  test('a holding that becomes zero is deleted, and the ownership of a token has the block of the last event of the token', async () => {
    await insertChainEvents(db, 'ethereum', [transfer(1, 0, ZERO_ADDRESS, HOLDER), transfer(9, 0, HOLDER, OTHER)]);
    const move = (holder: Address, quantity: bigint) => ({ collectionId: COLLECTION, tokenId: '7', holder, quantity });
    await updateHoldings(db, [move(HOLDER, 1n)]);
    await updateHoldings(db, [move(HOLDER, -1n), move(OTHER, 1n), move(ZERO_ADDRESS, -1n)]);
    assert.deepEqual(await db.query(`select holder, quantity::text from main.holding`), [
      { holder: OTHER, quantity: '1' },
    ]);
    const token = { collectionId: COLLECTION, chain: 'ethereum', contract: CONTRACT };
    assert.deepEqual(
      [...(await listOwnership(db, token, ['7', '8']))],
      [
        ['7', { owner: OTHER, burned: false, minted: true, block: 9 }],
        ['8', { owner: null, burned: false, minted: false, block: null }],
      ],
    );
  });

  test('only changed owners are written, so a token that a batch does not change keeps its row', async () => {
    const write = (owners: readonly Address[]) =>
      db.transaction(async (tx) => {
        await lockFigures(tx, [COLLECTION]);
        await upsertTokenHolders(
          tx,
          owners.map((owner, n) => ({
            collectionId: COLLECTION,
            chain: 'ethereum',
            asset: String(n),
            owner,
            burned: false,
            blockNumber: owner === HOLDER ? 5 : 6,
          })),
        );
      });
    const rows = () =>
      db.query<{ row: string; owner: string; tokens: number }>(
        `select token.ctid::text as row, owner, tokens::int from indexer.token join indexer.collection_figures using (collection_id) order by asset`,
      );
    await write([HOLDER, HOLDER]);
    const before = await rows();
    await write([HOLDER, OTHER]);
    const after = await rows();
    assert.equal(after[0]?.row, before[0]?.row);
    assert.deepEqual(
      after.map(({ owner, tokens }) => [owner, tokens]),
      [
        [HOLDER, 2],
        [OTHER, 2],
      ],
    );
  });
});

test('a slice of a backfill is divided into parts of complete blocks', () => {
  const inBlocks = (...sizes: number[]) =>
    sizes.flatMap((size, index) =>
      Array.from({ length: size }, (_, logIndex): ChainEvent => transfer(index + 1, logIndex, HOLDER, OTHER)),
    );
  const partsOf = (events: ChainEvent[]) =>
    [...toSliceParts({ to: 90, events, isUncompared: false })].map((part) => [part.to, part.events.length]);
  assert.deepEqual(partsOf([]), [[90, 0]]);
  assert.deepEqual(partsOf(inBlocks(4_000, 2_000, 5_000, 1)), [
    [2, 6_000],
    [3, 5_000],
    [90, 1],
  ]);
  assert.deepEqual(partsOf(inBlocks(12_000)), [[90, 12_000]]);
  const events = inBlocks(3_000, 3_000, 3_000, 3_000);
  assert.deepEqual(
    [...toSliceParts({ to: 90, events, isUncompared: false })].flatMap((part) => part.events),
    events,
  );
});
