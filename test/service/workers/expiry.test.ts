// The sweep that marks orders and listings as expired when their expiry time has come.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { emptySyncTables, ingest, listing, order } from '../../support/service/intake.ts';

const AT = Date.UTC(2026, 5, 1);
const DAY_MS = 24 * 60 * 60_000;
const at = (ms: number) => new Date(AT + ms).toISOString();

forEachEngine('the expiry sweep', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptySyncTables(db));

  const statuses = async () => {
    const orders = await db.query(`select token_id || ' ' || status as row from main.book_order order by token_id`);
    const listings = await db.query(`select id || ' ' || status as row from indexer.listing order by id`);
    return [...orders, ...listings].map((found) => found['row']);
  };

  test('an active order or listing is marked as expired at its expiry time', async () => {
    const orderOf = (tokenId: string, more: object) => order({ tokenId, ...more });
    await ingest(
      db,
      orderOf('1', { expiresAt: at(0) }),
      orderOf('2', { expiresAt: at(1) }),
      orderOf('3', {}),
      orderOf('4', { expiresAt: at(-1), status: 'filled' }),
      listing({ id: 'a', expiresAt: at(-1) }),
      listing({ id: 'b', expiresAt: at(1) }),
      listing({ id: 'c' }),
      listing({ id: 'd', expiresAt: at(-1), status: 'cancelled' }),
    );
    const sweep = (now: number) => sweepExpired({ main: db, indexer: db, chains: createChains(), clock: () => now });
    assert.equal(await sweep(AT), 2);
    const swept = ['1 expired', '2 active', '3 active', '4 filled', 'a expired', 'b active', 'c active', 'd cancelled'];
    assert.deepEqual(await statuses(), swept);
    assert.equal(await sweep(AT), 0, 'a second sweep at the same time changed rows');
    assert.equal(await sweep(AT + 1), 2);
  });

  test('one sweep marks all expired rows, even if they are more than the limit of one statement', async () => {
    const expiresAt = at(-1);
    await ingest(db, ...Array.from({ length: 1_203 }, (_, n) => listing({ id: `x${n}`, tokenId: `${n}`, expiresAt })));
    assert.equal(await sweepExpired({ main: db, indexer: db, chains: createChains(), clock: () => AT }), 1_203);
  });

  test('if the sweep of one schema fails, the other schema is still swept, and the failure is reported', async () => {
    await ingest(db, order({ tokenId: '1', expiresAt: at(-1) }), listing({ id: 'a', expiresAt: at(-1) }));
    await db.query(
      `insert into main.recent_view (collection_id, asset, viewed_at) values ('a', '1', $1), ('a', '2', $2)`,
      [at(-2 * DAY_MS), at(0)],
    );
    const sweepWithout = async (schema: string) => {
      await db.query(`alter schema ${schema} rename to unreachable`);
      try {
        const sweep = sweepExpired({ main: db, indexer: db, chains: createChains(), clock: () => AT });
        await assert.rejects(sweep, /does not exist/);
      } finally {
        await db.query(`alter schema unreachable rename to ${schema}`);
      }
    };
    await sweepWithout('indexer');
    assert.deepEqual(await statuses(), ['1 expired', 'a active']);
    assert.deepEqual(await db.query(`select asset from main.recent_view`), [{ asset: '2' }]);
    await sweepWithout('main');
    assert.deepEqual(await statuses(), ['1 expired', 'a expired']);
  });
});
