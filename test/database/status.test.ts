// Tests what the section `databases` of the status, the command `mercat status` and the command `mercat doctor` say about the indexer database:
// whether a move of the index has begun, and whether the workers of a Citus cluster respond.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { defineDoctor } from '../../src/cli/doctor/doctor.ts';
import { defineStatus } from '../../src/cli/status.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/core/log.ts';
import type { MoveState } from '../../src/database/index-move/state.ts';
import { insertMoveState } from '../../src/database/index-move/state.ts';
import { openDatabases } from '../../src/database/open.ts';
import type { Database } from '../../src/database/port.ts';
import { createDatabase } from '../../src/database/port.ts';
import type { DatabaseStatus } from '../../src/database/status.ts';
import { createDatabaseStatus } from '../../src/database/status.ts';
import { runCommand } from '../cli/run-command.ts';
import type { CitusCluster } from '../support/engines/citus-cluster.ts';
import { startCitus } from '../support/engines/citus-cluster.ts';
import { citusSkip } from '../support/engines/citus-node.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import type { PostgresServer } from '../support/engines/postgres-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const OTHER = 'other.example:5432/index';

async function readStatus(databases: { main: Database; indexer: Database }): Promise<Record<string, DatabaseStatus>> {
  return (await createDatabaseStatus(databases).read()) as Record<string, DatabaseStatus>;
}

const runStatus = (settings: Record<string, string>) => runCommand(defineStatus, ['status'], { env: settings });
const runDoctor = (settings: Record<string, string>) => runCommand(defineDoctor, ['doctor'], { env: settings });

forEachEngine('a move of the index', (engine) => {
  let settings: Record<string, string>;
  before(async () => {
    settings = await engine.settings();
  });

  /** Stores the state of a move and returns the status with it. */
  async function readWith(state: Pick<MoveState, 'role' | 'phase'>): Promise<DatabaseStatus | undefined> {
    const databases = await openDatabases(readConfig(settings), createLog('silent'));
    try {
      await databases.indexer.transaction((tx) =>
        insertMoveState(tx, { ...state, id: randomUUID(), runner: randomUUID(), other: OTHER }),
      );
      return (await readStatus(databases))['indexer'];
    } finally {
      await databases.close();
    }
  }

  test('the status of the source database says that a move has begun or is complete, without the host of the other database', async () => {
    const begun = await readWith({ role: 'source', phase: 'copying' });
    assert.equal(begun?.move, 'begun');
    assert.ok(!JSON.stringify(begun).includes('other.example'));
    assert.equal((await readWith({ role: 'source', phase: 'moved' }))?.move, 'moved');
    assert.equal((await readWith({ role: 'target', phase: 'complete' }))?.move, undefined);
  });

  test('mercat status reports a move that is not complete, and mercat doctor also names the other database', async () => {
    await readWith({ role: 'source', phase: 'copying' });
    assert.match((await runStatus(settings)).stdout, /^a move of the index to another database has begun/m);
    assert.match((await runDoctor(settings)).stdout, /a move of the index to other\.example:5432\/index has begun/);
    await readWith({ role: 'target', phase: 'complete' });
    assert.doesNotMatch((await runStatus(settings)).stdout, /move/);
    assert.doesNotMatch((await runDoctor(settings)).stdout, /move/);
  });
});

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
