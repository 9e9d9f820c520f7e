// Tests that the large set of the benchmarks, which is made by SQL statements, has the same rows as an import of its records.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { rowsSql, sizeOf } from '../../bench/large/large-set-rows.ts';
import { createLargeSet } from '../../bench/large/large-set.ts';
import { toChunks } from '../../bench/support/records.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { importRecords } from '../../src/intake/import.ts';
import { recountFigures } from '../../src/market/index/recount.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import { NOW, toContext } from '../support/service/intake.ts';

const SIZE = { collections: 10, sales: 1_000, listings: 800, tokens: 800 };
const silent = { report: () => undefined };

/**
 * For each table, a statement that reads the rows that an import of the records stores. Left out are the numbers that identify traits, the
 * times at which metadata was stored, and the history of floors and listed counts, which depends on the batches of the import.
 */
const COMPARED: Record<string, string> = {
  'main.collection': 'select to_jsonb(stored) from main.collection as stored',
  'main.book_order': 'select to_jsonb(stored) from main.book_order as stored',
  'main.book_asset': 'select to_jsonb(stored) from main.book_asset as stored',
  'main.collection_book': 'select to_jsonb(stored) from main.collection_book as stored',
  'indexer.token': 'select to_jsonb(stored) from indexer.token as stored',
  'indexer.listing': 'select to_jsonb(stored) from indexer.listing as stored',
  'indexer.sale': 'select to_jsonb(stored) from indexer.sale as stored',
  'indexer.listed_asset': 'select to_jsonb(stored) from indexer.listed_asset as stored',
  'indexer.own_asset': 'select to_jsonb(stored) from indexer.own_asset as stored',
  'indexer.holder': 'select to_jsonb(stored) from indexer.holder as stored',
  'indexer.sale_hour': 'select to_jsonb(stored) from indexer.sale_hour as stored',
  'indexer.sale_total': 'select to_jsonb(stored) from indexer.sale_total as stored',
  'indexer.coverage': 'select to_jsonb(stored) from indexer.coverage as stored',
  'indexer.collection_figures': `select to_jsonb(stored) - 'point_at' - 'point_floor_raw' - 'point_listed' from indexer.collection_figures as stored`,
  'indexer.token_metadata': `select to_jsonb(stored) - 'fetched_at', fetched_at is not null as is_fetched from indexer.token_metadata as stored`,
  'indexer.token_trait': 'select to_jsonb(stored) from indexer.token_trait as stored',
  'indexer.trait': `select to_jsonb(stored) - 'id' from indexer.trait as stored`,
  'indexer.trait_set': `select collection_id, asset, (select jsonb_agg(trait.value order by place) from unnest(trait_ids) with ordinality as one (id, place)
    join indexer.trait using (id)) from indexer.trait_set as stored`,
  'indexer.trait_listing': `select to_jsonb(stored) - 'trait_ids' from indexer.trait_listing as stored`,
  'indexer.listed_trait': `select trait.collection_id, name, value, price_raw, asset from indexer.listed_trait join indexer.trait on id = trait_id`,
};

forOneEngine('the large set', (engine) => {
  let set: Database;
  let imported: Database;
  before(async () => {
    set = await engine.open();
    await createLargeSet(set, { ...SIZE, now: NOW, ...silent });
    imported = await engine.open();
    const records = (await listRecords(set)).values();
    const { refused } = await importRecords(toContext(imported), toAsync(toChunks(records)), { format: 'ndjson' });
    assert.equal(refused, 0);
  });

  test('the large set has the figures that a count of its rows gives', async () => {
    const scope = { prefix: '', now: NOW, limit: 10 };
    assert.deepEqual(await recountFigures({ main: set, indexer: set, chains: createChains() }, scope), []);
  });

  for (const [table, select] of Object.entries(COMPARED)) {
    test(`the large set has the rows of ${table} that an import stores`, async () => {
      const read = async (db: Database) => (await db.query(select)).map((row) => JSON.stringify(row)).sort();
      const stored = await read(set);
      assert.ok(stored.length > 0);
      assert.deepEqual(stored, await read(imported));
    });
  }

  test('the large set has listings in each state, several of one token, sales on two kinds of chains, and sales by an unknown seller', async () => {
    const [row] = await set.query(
      `select (select count(distinct status)::int from indexer.listing) as states,
         (select count(*) > count(distinct (collection_id, asset)) from indexer.listing where status = 'active') as several,
         (select count(distinct chain = 'solana')::int from indexer.sale) as kinds,
         exists (select from indexer.sale where seller is null) as unnamed,
         (select count(*)::int from indexer.sale where sold_at > $1) as later`,
      [new Date(NOW)],
    );
    assert.deepEqual(row, { states: 4, several: true, kinds: 2, unnamed: true, later: 0 });
  });

  test('the large set is skewed: the largest collection has more than 2.5 times as many sales as the median one', async () => {
    const [row] = await set.query(
      `select max(sales)::int as most, (percentile_disc(0.5) within group (order by sales))::int as median from indexer.sale_total`,
    );
    assert.ok(Number(row?.['most']) > 2.5 * Number(row?.['median']), JSON.stringify(row));
  });
});

describe('the statements and sizes of the large set', () => {
  test('the statements that make the rows are the same with the same seed, and different with another seed', () => {
    const sqlOf = (seed: number) => rowsSql({ ...SIZE, now: new Date(NOW).toISOString(), seed });
    assert.deepEqual(sqlOf(1), sqlOf(1));
    assert.notEqual(sqlOf(1).sale, sqlOf(2).sale);
  });

  test('a large set of a given share has this share of the rows of the full set, but the number of sales can be set', () => {
    const all = { collections: 20_000, sales: 20_000_000, listings: 5_000_000, tokens: 10_000_000 };
    assert.deepEqual(sizeOf(1), all);
    assert.deepEqual(sizeOf(1, { sales: 50_000_000 }), { ...all, sales: 50_000_000 });
    assert.deepEqual(sizeOf(0.01), { collections: 200, sales: 200_000, listings: 50_000, tokens: 100_000 });
  });
});

/** Reads the rows of the set as records that can be imported. */
async function listRecords(db: Database): Promise<Record<string, unknown>[]> {
  const asset = `case when chain = 'solana' then 'mint' else 'tokenId' end`;
  const time = (name: string) => `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const location = `'chain', chain, 'contractAddress', (select contract_address from main.collection where id = collection_id)`;
  const kinds = [
    `select jsonb_build_object('kind', 'collection', 'chain', chain, 'contractAddress', contract_address, 'slug', slug, 'name', name,
       'royaltyBps', royalty_bps, 'launched', launched, 'createdAt', ${time('created_at')}) from main.collection`,
    `select jsonb_build_object('kind', 'order', ${location}, 'tokenId', token_id, 'priceRaw', price_raw::text, 'seller', seller,
       'createdAt', ${time('created_at')}) from main.book_order`,
    `select jsonb_build_object('kind', 'token', ${location}, ${asset}, asset, 'name', name, 'image', image, 'rarityRank', rarity_rank,
       'owner', owner, 'traits', traits) from indexer.token`,
    `select jsonb_build_object('kind', 'listing', 'source', source, 'id', id, ${location}, ${asset}, asset, 'priceRaw', price_raw::text,
       'buyerTotalRaw', buyer_total_raw::text, 'seller', seller, 'orderHash', order_hash, 'status', status, 'timestamp', ${time('listed_at')},
       'expiresAt', ${time('expires_at')}, 'tx', tx) from indexer.listing`,
    `select jsonb_build_object('kind', 'sale', 'source', source, ${location}, ${asset}, asset, 'price', price, 'seller', seller,
       'buyer', buyer, 'timestamp', ${time('sold_at')}, 'tx', tx, 'logIndex', log_index) from indexer.sale`,
  ];
  const records: Record<string, unknown>[] = [];
  for (const sql of kinds)
    for (const row of await db.query(sql)) records.push(row['jsonb_build_object'] as Record<string, unknown>);
  return records;
}

async function* toAsync(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
