// The rule by which a written row is a change of the market (state-changes.ts): each combination of the earlier and the written row.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { recordRemovals, recordStateChanges } from '../../../src/market/activity/queries/state-changes.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';

const NOW = Date.UTC(2026, 5, 1);
const HOUR = 60 * 60_000;
const at = (ms: number) => new Date(NOW + ms).toISOString();

type Columns = Readonly<Record<string, string | number | null>>;
const LISTED: Columns = {
  key: '0'.repeat(32),
  id: 'A',
  source: 'opensea',
  chain: 'ethereum',
  collection_id: 'c',
  asset: '1',
  price_raw: '100',
  seller: 's',
  order_hash: '0x1',
  status: 'active',
  listed_at: at(-2 * HOUR),
};
const ORDERED: Columns = {
  id: 'A',
  side: 'ask',
  chain: 'ethereum',
  collection_id: 'c',
  token_id: '1',
  price_raw: '100',
  seller: 's',
  order_hash: '0x1',
  status: 'active',
  created_at: at(-2 * HOUR),
  starts_at: at(-2 * HOUR),
};

const expired = { expires_at: at(-HOUR) };
const pending = { dormant: 'pending' };
const gone = { dormant: 'no-balance' };
const unapproved = { dormant: 'not-approved' };
const filled = { status: 'filled', tx: '0xf' };
const cancelled = { status: 'cancelled' };
const units = { quantity: '5', partial: 'true' };
const free = { price_raw: '0' };

/** The change of each pair of rows: the earlier row, or null for an inserted row; the written row; the change. */
const RULE: Readonly<Record<string, [Columns | null, Columns, string | null]>> = {
  'a new listing is listed': [null, {}, 'list'],
  'a new listing that has expired is no change': [null, expired, null],
  'a new listing that has ended is no change': [null, filled, null],
  'a new pending listing is no change until it is judged': [null, pending, null],
  'a new listing without a price is no change': [null, free, null],
  'a filled listing is filled in its transaction': [{}, filled, 'fill 0xf'],
  'a cancelled listing is cancelled, also while it is dormant': [gone, cancelled, 'cancel'],
  'the transaction that was known before the end is not that of the end': [
    { tx: '0xe' },
    { ...cancelled, tx: '0xe' },
    'cancel',
  ],
  'an expired listing is expired': [{}, { status: 'expired' }, 'expire'],
  'an ended listing whose row changes is no change': [filled, { ...filled, price_raw: '90' }, null],
  'a listing that loses its price is cancelled': [{}, free, 'cancel'],
  'a listing without a price that gets one is listed': [free, {}, 'list'],
  'a listing whose seller no longer holds the token becomes dormant': [{}, gone, 'invalidate owner'],
  'a listing whose seller withdrew the approval becomes dormant': [{}, unapproved, 'invalidate approval'],
  'a listing that becomes dormant for another reason becomes dormant again': [gone, unapproved, 'invalidate approval'],
  'a dormant listing that stays dormant is no change': [gone, { ...gone, price_raw: '90' }, null],
  'a listing that becomes pending is no change': [{}, pending, null],
  'a judged listing is listed': [pending, {}, 'list'],
  'a judged listing that cannot be filled becomes dormant': [pending, gone, 'invalidate owner'],
  'a dormant listing that can be filled again is active again': [gone, {}, 'revalidate'],
  'an ended listing that is active again is recorded as such': [cancelled, {}, 'revalidate'],
  'a listing with another price is repriced': [{}, { price_raw: '90' }, 'reprice'],
  'a listing with another buyer total is repriced': [{}, { buyer_total_raw: '103' }, 'reprice'],
  'a listing of which units were bought is repriced': [
    { ...units, filled_quantity: '1' },
    { ...units, filled_quantity: '3' },
    'reprice',
  ],
  'a listing of which the log shows no bought units is no change': [units, { ...units, filled_quantity: '0' }, null],
  'an unchanged listing is no change': [{}, {}, null],
};

/** As RULE, for rows that a marketplace has reported. */
const REPORTS: typeof RULE = {
  'a reported listing that had ended is listed': [cancelled, {}, 'list'],
  'a reported listing of another seller is listed': [{}, { seller: 't' }, 'list'],
  'a reported listing with another signed order is listed': [{}, { order_hash: '0x2' }, 'list'],
  'a reported listing with another price is repriced': [{}, { price_raw: '90' }, 'reprice'],
};

/** As RULE, for own orders. */
const ORDERS: typeof RULE = {
  'a new order is listed': [null, {}, 'list'],
  'a new order is no change before its start': [null, { starts_at: at(HOUR) }, null],
  'an order that has not started and is cancelled is cancelled': [
    { starts_at: at(HOUR) },
    { starts_at: at(HOUR), ...cancelled },
    'cancel',
  ],
  'an order whose offerer no longer holds the token becomes dormant': [
    {},
    { dormant: 'no-balance' },
    'invalidate owner',
  ],
  'an order of which units were bought is repriced': [
    { quantity: '5', filled_quantity: '0' },
    { quantity: '5', filled_quantity: '2' },
    'reprice',
  ],
  'an ended order is recorded at its end': [{}, { status: 'expired', ended_at: at(-HOUR) }, `expire at ${at(-HOUR)}`],
};

/** As RULE, for own bids. */
const BIDS: typeof RULE = {
  'a new bid is made, also before its start': [null, { starts_at: at(HOUR) }, 'bid'],
  'a bid of which units were sold is made again for the others': [
    { quantity: '5', filled_quantity: '0' },
    { quantity: '5', filled_quantity: '2' },
    'bid',
  ],
  'a filled bid is filled': [{}, filled, 'fill 0xf'],
  'a cancelled bid is cancelled': [{}, cancelled, 'bid-cancel'],
  'a bid that expires is expired': [{}, { status: 'expired', ended_at: at(-HOUR) }, `bid-expire at ${at(-HOUR)}`],
  'a bid whose bidder lacks the money becomes dormant': [{}, gone, 'bid-invalidate balance'],
  'a bid whose bidder withdrew the approval becomes dormant': [{}, unapproved, 'bid-invalidate approval'],
  'a dormant bid that can be accepted again is active again': [gone, {}, 'bid-revalidate'],
};

const REMOVALS: Readonly<Record<string, [Columns, string | null]>> = {
  'a deleted listing is cancelled': [{}, 'cancel'],
  'a deleted listing whose expiry is not stored yet is expired': [expired, 'expire'],
  'a deleted listing that had ended is no change': [filled, null],
  'a deleted listing without a price is no change': [free, null],
};

forOneEngine('the rule for changes of the market', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  const rows = (kind: 'listing' | 'order', n: number) =>
    `select * from json_populate_recordset(null::${kind === 'listing' ? 'indexer.listing' : 'main.book_order'}, $${n}::json)`;
  const record = async (schema: string, sql: string, ...params: (readonly Columns[])[]) => {
    await db.query(`truncate ${schema}.market_change`);
    await db.query(sql, [...params.map((one) => JSON.stringify(one)), new Date(NOW)]);
    const recorded = await db.query(`select * from ${schema}.market_change`);
    return recorded.map((row) => row);
  };
  const toText = (row: Record<string, unknown> | undefined, usual: number) => {
    if (!row) return null;
    const time = (row['at'] as Date).toISOString();
    return [row['kind'], row['reason'], row['tx'], time === at(usual) ? null : `at ${time}`].filter(Boolean).join(' ');
  };
  const recordPair = async (
    kind: 'listing' | 'order',
    [earlier, written]: [Columns | null, Columns],
    options: { isReport?: boolean; isByCounter?: string } = {},
  ) => {
    const row = kind === 'listing' ? LISTED : ORDERED;
    const changes = await record(
      kind === 'listing' ? 'indexer' : 'main',
      `with before as (${rows(kind, 1)}), written as (select ${earlier === null} as inserted, * from (${rows(kind, 2)}) as stored),
         ${recordStateChanges(kind, { written: 'written', before: 'before', now: '$3', ...options })} select 1`,
      earlier ? [{ ...row, ...earlier }] : [],
      [{ ...row, ...written }],
    );
    assert.ok(changes.length <= 1);
    return changes[0];
  };

  for (const [name, [earlier, written, change]] of Object.entries(RULE)) {
    test(name, async () => {
      const recorded = await recordPair('listing', [earlier, written]);
      assert.equal(toText(recorded, earlier?.['dormant'] === 'pending' && change === 'list' ? -2 * HOUR : 0), change);
    });
  }
  for (const [name, [earlier, written, change]] of Object.entries(REPORTS)) {
    test(name, async () => {
      assert.equal(toText(await recordPair('listing', [earlier, written], { isReport: true }), 0), change);
    });
  }
  for (const [name, [earlier, written, change]] of Object.entries(ORDERS)) {
    test(name, async () => {
      assert.equal(toText(await recordPair('order', [earlier, written]), 0), change);
    });
  }
  for (const [name, [earlier, written, change]] of Object.entries(BIDS)) {
    test(name, async () => {
      const side = { side: 'bid' };
      assert.equal(
        toText(await recordPair('order', [earlier && { ...earlier, ...side }, { ...written, ...side }]), 0),
        change,
      );
    });
  }
  for (const [name, [deleted, change]] of Object.entries(REMOVALS)) {
    test(name, async () => {
      const sql = `with deleted as (${rows('listing', 1)}), ${recordRemovals('listing', { deleted: 'deleted', now: '$2' })} select 1`;
      assert.equal(toText((await record('indexer', sql, [{ ...LISTED, ...deleted }]))[0], 0), change);
    });
  }

  test('a reported change has the time that the marketplace reports, but not a time in the future', async () => {
    const report = async (listedAt: string) =>
      toText(await recordPair('listing', [null, { listed_at: listedAt }], { isReport: true }), 0);
    assert.equal(await report(at(-HOUR)), `list at ${at(-HOUR)}`);
    assert.equal(await report(at(HOUR)), 'list');
  });

  test('a cancel by a raised counter is recorded with this reason', async () => {
    const recorded = await recordPair('listing', [{}, { ...cancelled, tx: '0xc' }], { isByCounter: 'true' });
    assert.equal(toText(recorded, 0), 'invalidate counter 0xc');
  });

  test('a change has the fields of the written row', async () => {
    const { seq: _, ...change } = (await recordPair('listing', [{}, { price_raw: '90', seller: 't' }])) ?? {};
    assert.deepEqual(change, {
      kind: 'reprice',
      at: new Date(NOW),
      chain: 'ethereum',
      collection_id: 'c',
      asset: '1',
      price_raw: '90',
      from_account: 't',
      to_account: null,
      order_id: 'A',
      marketplace: 'opensea',
      tx: null,
      reason: null,
      block_number: null,
      log_index: null,
      quantity: '1',
      payment: null,
      tokens: null,
      fact: null,
      facts: null,
    });
  });
});
