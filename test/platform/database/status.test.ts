// Tests what the section `databases` of the status, the command `mercat status` and the command `mercat doctor` say about the indexer database:
// whether the workers of a Citus cluster respond.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { defineDoctor } from '../../../src/cli/doctor/doctor.ts';
import { defineStatus } from '../../../src/cli/status.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createDatabase } from '../../../src/platform/database/port.ts';
import type { DatabaseStatus } from '../../../src/platform/database/status.ts';
import { createDatabaseStatus } from '../../../src/platform/database/status.ts';
import { runCommand } from '../../cli/run-command.ts';
import type { CitusCluster } from '../../support/engines/citus-cluster.ts';
import { startCitus } from '../../support/engines/citus-cluster.ts';
import { citusSkip } from '../../support/engines/citus-node.ts';
import { cleanUp } from '../../support/engines/cleanup.ts';
import type { PostgresServer } from '../../support/engines/postgres-server.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function readStatus(databases: { main: Database; indexer: Database }): Promise<Record<string, DatabaseStatus>> {
  return (await createDatabaseStatus(databases).read()) as Record<string, DatabaseStatus>;
}

const runStatus = (settings: Record<string, string>) => runCommand(defineStatus, ['status'], { env: settings });
const runDoctor = (settings: Record<string, string>) => runCommand(defineDoctor, ['doctor'], { env: settings });

describe('the workers of a cluster', { skip: citusSkip() }, () => {
  let cluster: CitusCluster;
  let settings: Record<string, string>;
  let databases: { main: Database; indexer: Database };
  before(async () => {
    cluster = await startCitus();
    settings = {
      PRICE_SOURCES: 'none',
      DATA_DIR: temporaryDirectory(),
      DATABASE_URL: await cluster.createPrimary('migrated'),
      INDEXER_DATABASE_URL: await cluster.createDatabase('migrated'),
    };
    databases = { main: open(settings['DATABASE_URL']), indexer: open(settings['INDEXER_DATABASE_URL']) };
  });
  after(async () => {
    await Promise.all([databases?.main.close(), databases?.indexer.close()]);
    await cleanUp();
    await cluster?.discard();
  });

  const open = (connectionString: string | undefined): Database => {
    const pool = new pg.Pool({ connectionString, max: 8 });
    pool.on('error', () => undefined);
    return createDatabase(pool, { engine: 'postgresql', name: 'indexer' });
  };
  const second = () => cluster.workers[1] as PostgresServer;
  const portOf = ({ url }: PostgresServer) => new URL(url).port;

  test('the status says of each worker whether the coordinator can use it', async () => {
    const readWorkers = async () => {
      const { main, indexer } = await readStatus(databases);
      assert.equal(main?.cluster, undefined);
      assert.equal(indexer?.answers, true);
      return indexer?.cluster?.workers.map(({ answers }) => answers);
    };
    assert.deepEqual(await readWorkers(), [true, true]);
    await second().stop();
    try {
      assert.deepEqual(await readWorkers(), [true, false]);
    } finally {
      await second().start();
    }
    assert.deepEqual(await readWorkers(), [true, true]);
    second().freeze();
    try {
      assert.deepEqual(await readWorkers(), [true, false]);
    } finally {
      second().thaw();
    }
    assert.deepEqual(await readWorkers(), [true, true]);
  });

  test('mercat status shows the workers, and mercat doctor names a worker that does not respond', async () => {
    const both = /^the indexer database is the coordinator of a Citus cluster: worker 2 responds, worker 3 responds$/m;
    assert.match((await runStatus(settings)).stdout, both);
    assert.match((await runDoctor(settings)).stdout, /version 13\S*, the tables are distributed over/);
    await second().stop();
    try {
      assert.match((await runStatus(settings)).stdout, /worker 2 responds, worker 3 does not respond$/m);
      const doctor = await runDoctor(settings);
      assert.equal(doctor.code, 1);
      const named = `workers that do not respond to the coordinator: 127.0.0.1:${portOf(second())}`;
      assert.ok(doctor.stdout.includes(named), doctor.stdout);
    } finally {
      await second().start();
    }
  });
});
