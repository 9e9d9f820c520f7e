// The digest of a chain depends only on the served data of the chain, and on the block that was read.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { digestChain } from '../../src/sources/chains/audit/digest.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { sweepExpired } from '../../src/service/workers/expiry.ts';
import type { FollowedLife } from '../sources/chains/followed-devnet.ts';
import { startFollowedLife } from '../sources/chains/followed-devnet.ts';
import { listing, runImport, toContext, toNdjson } from '../support/service/intake.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';

const STEPS = 40;
const SEED = 11;
/** Some listings of the simulation expire within this time, others later. */
const LATER_MS = 15 * 24 * 3_600_000;

forOneEngine('the digest of a chain', (engine) => {
  let followed: FollowedLife;
  let db: Database;
  before(async () => {
    followed = await startFollowedLife(engine.open, SEED);
    db = followed.operations.main;
    for (let step = 0; step < STEPS; step += 1) await followed.simulation.step();
    await followed.simulation.reorganise(3);
    await followed.settle();
  });
  after(() => followed.stop());

  const digest = async () => {
    const found = await digestChain(followed.operations, 'ethereum');
    assert.ok(found, 'the chain has no digest');
    return found;
  };

  test('the digest covers listings, owners, sales and sums', async () => {
    const { block, hash, rows, digest: text } = await digest();
    const [cursor] = await db.query(`select block_number, block_hash from main.chain_cursor`);
    assert.deepEqual([block, hash], [Number(cursor?.['block_number']), cursor?.['block_hash']]);
    assert.match(text, /^[0-9a-f]{64}$/);
    for (const count of Object.values(rows)) assert.ok(count > 0, JSON.stringify(rows));
  });

  test('the digest stays the same when a sweep records the expiry of orders that expire after the block', async () => {
    const before = await digest();
    const dormant = await db.query(`select id from main.book_order where dormant is not null`);
    await sweepExpired({ main: db, indexer: db, chains: createChains(), clock: () => Date.now() + LATER_MS });
    const expired = await db.query(`select id from main.book_order join main.chain_cursor using (chain)
      where status = 'expired' and expires_at > block_time`);
    const ids = new Set(expired.map((row) => row['id']));
    assert.ok(
      dormant.some((row) => ids.has(row['id'])),
      'the sweep recorded the expiry of no order that was dormant at the block',
    );
    assert.deepEqual(await digest(), before);
  });

  test('the digest does not depend on whether a mirrored listing was judged before or after it expired', async () => {
    const [token] = await db.query(
      `select collection_id, token_id from main.holding where quantity > 0 order by 1, 2 limit 1`,
    );
    assert.ok(token);
    const [chain, contractAddress] = String(token['collection_id']).split('_');
    const record = listing({
      chain,
      contractAddress,
      tokenId: token['token_id'],
      expiresAt: new Date(Date.now() + LATER_MS),
    });
    const { summary } = await runImport(toContext(db, { clock: Date.now }), toNdjson([record]));
    assert.equal(summary.inserted, 1);
    await followed.settle();
    const stored = async () => {
      const [row] = await db.query(`select status, dormant from indexer.listing where id = 'L1'`);
      return Object.values(row ?? {});
    };
    assert.deepEqual(await stored(), ['active', 'no-balance']);
    const judgedBefore = await digest();
    const later = () => Date.now() + 2 * LATER_MS;
    await sweepExpired({ main: db, indexer: db, chains: createChains(), clock: later });
    await db.query(`update indexer.listing set dormant = 'pending' where id = 'L1'`);
    await followed.settle();
    assert.deepEqual(await stored(), ['expired', null]);
    assert.deepEqual(await digest(), judgedBefore);
  });

  test('the digest changes when a served value changes in a row of any table that it covers', async () => {
    const before = await digest();
    const changes = [
      ['main.book_order', 'filled_quantity = filled_quantity + 1'],
      ['main.book_order', `status = 'cancelled'`],
      ['main.holding', 'quantity = quantity + 1'],
      ['indexer.token', `owner = '0x${'00'.repeat(19)}01'`],
      ['indexer.sale', `buyer = '0x${'00'.repeat(19)}01'`],
      ['indexer.sale_hour', 'sales = sales + 1'],
      ['indexer.sale_total', 'volume_raw = volume_raw + 1'],
    ] as const;
    for (const [table, change] of changes) {
      await db.query(`create table copied as select * from ${table}`);
      // The row is selected by its ctid. Citus does not support this for a distributed table, so the row is changed in a copy of the table.
      await db.query(`create table changed as select * from copied`);
      await db.query(`update changed set ${change} where ctid = (select ctid from changed limit 1)`);
      await db.query(`delete from ${table}`);
      await db.query(`insert into ${table} select * from changed`);
      assert.notEqual((await digest()).digest, before.digest, `the digest did not change with ${table} set ${change}`);
      await db.query(`delete from ${table}`);
      await db.query(`insert into ${table} select * from copied`);
      await db.query(`drop table changed`);
      await db.query(`drop table copied`);
    }
    assert.equal((await digest()).digest, before.digest);
  });

  test('a chain that was never read has no digest', async () => {
    assert.equal(await digestChain(followed.operations, 'base'), null);
  });
});
