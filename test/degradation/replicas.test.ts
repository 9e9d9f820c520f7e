// Tests two nodes whose public reads use a streaming replica: while the replay of the replica is paused, and while the primary is stopped.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../src/shop/keys/api-key.ts';
import { withClient } from '../support/engines/postgres-locks.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { canStartPostgres, startOwnPostgres } from '../support/engines/postgres-server.ts';
import { newCollection } from '../support/service/market.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const LIMIT_MS = 30_000;
const canRun = canStartPostgres() || process.env['REQUIRE_POSTGRES'] === '1';
/** A response contains an offset only when the offset has reached a certain age. This time is longer than that age. */
const OFFSET_AGE_MS = 700;
/** Longer than the resolution of the clocks. */
const CLOCK_STEP_MS = 20;
const shown = newCollection({ slug: 'shown' });
/** A key of the right form that does not exist, so that the database has to be read. */
const KEY = createApiKey('mercat', randomBytes);

describe('two nodes with a replica', { skip: canRun ? false : 'PostgreSQL is not installed' }, () => {
  let primary: PostgresServer;
  let replica: PostgresServer;
  let [first, second] = [{} as TestService, {} as TestService];
  before(async () => {
    primary = await startOwnPostgres();
    replica = await startOwnPostgres({ replicaOf: primary.url });
    const start = () =>
      startTestService({
        settings: {
          DATA_DIR: temporaryDirectory(),
          DATABASE_URL: primary.url,
          DATABASE_REPLICA_URLS: replica.url,
          // So large that a replica whose replay is paused is still used.
          REPLICA_MAX_LAG_MS: '600000',
        },
      });
    first = await start();
    second = await start();
    await first.load([shown.collection({ name: 'Old name' }), shown.order('1', 2_000)]);
  });
  after(async () => {
    await Promise.all([first.close(), second.close()]);
    await Promise.all([replica.discard(), primary.discard()]);
  });

  const onReplica = (sql: string) => withClient(replica.url, (client) => client.query(sql));
  const nameOn = async (service: TestService, path: string) => (await service.ok(path)).data.name;
  /** Increments the position of the activity log. Resolves when responses of the first node contain the new offset. */
  const advanceOffset = async () => {
    const readOffset = async () => (await first.operate('status', {})).body.result.stream.offset;
    const earlier = await readOffset();
    await withClient(primary.url, (client) => client.query('update main.activity_head set position = position + 1'));
    await until(async () => (await readOffset()) !== earlier, LIMIT_MS, 'the log is not read');
    await sleep(OFFSET_AGE_MS);
  };
  const readsReplica = async (service: TestService) => {
    const { databases } = (await service.operate('status', {})).body.result;
    return databases['main-replica-1'].replica.leftOut === null;
  };

  test('a node serves its own changes and those of the other node at once, although the replica has not replayed them', async () => {
    await until(
      async () => (await readsReplica(first)) && (await readsReplica(second)),
      LIMIT_MS,
      'no replica is read',
    );
    // The nodes get no notification of these changes. So a response without the last change was read from the replica.
    let count = 0;
    const readsOld = async () => {
      count += 1;
      await onReplica('select pg_wal_replay_pause()');
      const name = `Name ${count}`;
      await withClient(primary.url, (client) => client.query('update main.collection set name = $1', [name]));
      if ((await first.ok(`/v1/collections?limit=${count}`)).data[0].name !== name) return true;
      await onReplica('select pg_wal_replay_resume()');
      return false;
    };
    await until(readsOld, LIMIT_MS, 'the replica is not read');
    const changedBy = Date.now();
    await sleep(CLOCK_STEP_MS);
    await first.ok(`${shown.path}/floor`);
    const floor = `select observed_at from main.last_buyer_floor where collection_id = '${shown.id}'`;
    const readFloor = async () => (await withClient(primary.url, (client) => client.query(floor))).rows[0]?.observed_at;
    await until(async () => (await readFloor()) !== undefined, LIMIT_MS, 'the floor is not stored');
    assert.ok(
      (await readFloor()) <= changedBy,
      'the time of the stored floor is later than the time of the rows from which the floor was computed',
    );
    await advanceOffset();
    const explored = await first.ok(`/explore/v1/collections/${shown.id}`);
    assert.equal(explored.data.name, `Name ${count}`, 'the response is older than its offset');
    await first.load([shown.collection({ name: 'New name' }), shown.order('2', 1_000)]);
    assert.equal(await nameOn(first, shown.path), 'New name');
    const { data } = await first.ok(`${shown.path}/listings`);
    assert.deepEqual(
      data.map((row: any) => row.tokenId),
      ['2', '1'],
    );
    await until(async () => (await nameOn(second, shown.path)) === 'New name', LIMIT_MS, 'the change was not noticed');
    for (const path of [`/v1/collections/${shown.id}`, `/explore/v1/collections/${shown.slug}`])
      assert.equal(await nameOn(second, path), 'New name');
    await onReplica('select pg_wal_replay_resume()');
  });

  test('while the primary is stopped, public reads succeed, and the store responds with 503', async () => {
    await until(
      async () => (await readsReplica(first)) && (await readsReplica(second)),
      LIMIT_MS,
      'no replica is read',
    );
    await until(
      async () => (await onReplica(`select from main.collection where name = 'New name'`)).rowCount === 1,
      LIMIT_MS,
      'the change was not replayed',
    );
    await primary.stop();
    for (const path of [`${shown.path}/floor`, `/v1/collections/${shown.id}/listings`, '/v1/collections?limit=7']) {
      const { status } = await second.get(path);
      assert.equal(status, 200, path);
    }
    assert.equal((await fetch(`${first.url}/readyz`)).status, 200);
    const readStore = async () => {
      const headers = { authorization: `Bearer ${KEY}` };
      return (await fetch(`${first.url}/api/v1/products`, { headers })).status;
    };
    assert.equal(await readStore(), 503);
    await primary.start();
    await until(async () => (await readStore()) === 401, LIMIT_MS, 'the store does not recover');
  });
});
