// Tests sales that are read from a chain. Several tokens that are sold for one price are one sale, a bundle. A bundle counts once, and has no
// price for a single token. A sale has the id of the mirrored listing that it filled.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { OrderFulfilled } from '../../../src/market/chain-log/chain-event.ts';
import { deleteChainEventsAfter } from '../../../src/market/chain-log/queries/chain-events.ts';
import { applyEvents } from '../../../src/sources/chains/apply-block.ts';
import { projectNext } from '../../../src/sources/chains/projection.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { ITEM_TYPE } from '../../../src/platform/core/seaport.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { readSales } from '../../../src/market/reads/sales.ts';
import { FOLLOWED, applyAndProject, followAnew } from '../../support/chain/applied-events.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { EVM, NOW, SELLER, ingest, listing, sale, toContext } from '../../support/service/intake.ts';

const ethereum = createChains().get('ethereum') ?? assert.fail();
const BUYER = `0x${'b2'.repeat(20)}` as Address;
const PROTOCOL = `0x${'5e'.repeat(20)}` as Address;
const hashOf = (block: number) => `0x${block.toString(16).padStart(64, '0')}` as const;

const fill = (blockNumber: number, tokenIds: readonly bigint[], price: bigint): OrderFulfilled => ({
  kind: 'order-fulfilled',
  blockNumber,
  blockTime: NOW + blockNumber * 1_000,
  tx: `0x${blockNumber.toString(16)}`,
  logIndex: 0,
  part: 0,
  protocol: PROTOCOL,
  orderHash: hashOf(blockNumber),
  offerer: SELLER as Address,
  zone: ZERO_ADDRESS,
  recipient: BUYER,
  offer: tokenIds.map((identifier) => ({
    itemType: ITEM_TYPE.erc721,
    token: EVM as Address,
    identifier,
    amount: 1n,
  })),
  consideration: [
    { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n, amount: price, recipient: SELLER as Address },
  ],
});

forOneEngine('sales read from a chain', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => followAnew(db));

  const apply = async (...fills: OrderFulfilled[]) => {
    await applyAndProject(db, fills);
    return toContext(db).market;
  };

  test('an event of a kind that only a newer version knows does not stop the projection, and is logged once', async () => {
    const logged: unknown[] = [];
    const log = createLog('warn', (line) => logged.push(JSON.parse(line)));
    const context = { ...toContext(db), chain: ethereum, log };
    await db.transaction((tx) => applyEvents(tx, 'ethereum', [fill(1, [1n], 100n), fill(2, [2n], 50n)], NOW));
    await db.query(`update main.chain_event set kind = 'invented-later' where block_number = 1`);
    await db.transaction((tx) => applyEvents(tx, 'ethereum', [fill(3, [3n], 70n)], NOW));
    while (await projectNext(context));
    const { sales } = await readSales(context.market, FOLLOWED, { before: null, limit: 9 });
    assert.deepEqual(
      sales.map(({ raw }) => raw),
      [70n, 50n],
    );
    assert.equal(await projectNext(context), null);
    assert.partialDeepStrictEqual(logged, [{ chain: 'ethereum', events: 1, kinds: ['invented-later'] }]);
    assert.equal(logged.length, 1);
    assert.equal((await deleteChainEventsAfter(db, 'ethereum', 0)).length, 2);
  });

  test('a bundle is not a row of /sales, and counts once in volume and number of sales', async () => {
    const market = await apply(fill(1, [1n], 100n), fill(2, [1n, 2n, 3n], 900n), fill(3, [2n], 50n));
    const first = await readSales(market, FOLLOWED, { before: null, limit: 1 });
    const rest = await readSales(market, FOLLOWED, { before: first.next, limit: 1 });
    assert.deepEqual(
      [first, rest].map(({ sales, next }) => [sales.map(({ asset, raw }) => [asset, raw]), next !== null]),
      [
        [[['2', 50n]], true],
        [[['1', 100n]], false],
      ],
    );
    const [total] = await db.query(`select volume_raw::text as volume, sales::int from indexer.sale_total`);
    assert.deepEqual(total, { volume: '1050', sales: 3 });
  });

  test('a sale that a marketplace and the chain both report counts once', async () => {
    const single = { ...fill(1, [1n], 100n), tx: hashOf(501) };
    const bundle = { ...fill(2, [2n, 3n], 900n), tx: hashOf(502) };
    const report = (tokenId: string, tx: string, price: string) =>
      sale({ tokenId, tx, price, timestamp: new Date(NOW).toISOString() });
    const reports = [report('1', single.tx, '100'), report('2', bundle.tx, '450'), report('3', bundle.tx, '450')];
    const other = report('9', single.tx, '7');
    const sums = async () => {
      const [total] = await db.query(`select volume_raw::int as volume, sales::int from indexer.sale_total`);
      return Object.values(total ?? {});
    };
    await ingest(db, ...reports, other);
    assert.deepEqual(await sums(), [1_007, 4]);
    await apply(single, bundle);
    assert.deepEqual(await sums(), [1_007, 3]);
    assert.deepEqual(await ingest(db, ...reports, other), [0, 0, 4]);
    assert.deepEqual(await sums(), [1_007, 3]);
  });

  test('a sale gets the id of the listing with the same order hash; among several such listings, the listing at the marketplace of the sale is used', async () => {
    const idsOf = async () => {
      const rows = await db.query(`select listing_id from indexer.sale order by block_number`);
      return rows.map((row) => row['listing_id']);
    };
    const listed = (block: number, fields: object) =>
      listing({ orderHash: hashOf(block), tokenId: `${block}`, ...fields });
    await ingest(
      db,
      listed(1, { id: 'there', source: 'another' }),
      listed(1, { id: 'here', source: 'opensea' }),
      listed(2, { id: 'only', source: 'another' }),
      listed(3, { id: 'of another token', tokenId: '9' }),
    );
    const domain = '0x360c6ebe' as const;
    await apply(
      { ...fill(1, [1n], 10n), domain },
      { ...fill(2, [2n], 10n), domain },
      fill(3, [3n], 10n),
      fill(4, [4n], 10n),
    );
    assert.deepEqual(await idsOf(), ['here', 'only', null, null]);
    await ingest(db, listed(4, { id: 'late' }));
    await apply();
    assert.deepEqual(await idsOf(), ['here', 'only', null, 'late']);
  });
});
