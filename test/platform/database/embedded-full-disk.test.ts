// Tests the embedded database on a disk that becomes full. The database reports the full disk, and keeps every row that it has acknowledged.
// It does not acknowledge a row that it could not store.

import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { EXIT_ENGINE_STOPPED, openEmbedded } from '../../../src/platform/database/embedded/embedded.ts';
import { fillDisk, mountMemory } from '../../support/engines/file-systems.ts';
import { assertAcknowledged, ended, startWriter } from '../../support/engines/embedded.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const MIB = 1024 * 1024;
/** More rows than the small disk has room for. */
const ROWS_MAX = 200_000;

test('a statement on a full disk fails with an error that names the disk', async (t) => {
  const disk = smallDisk(t, '160m');
  if (disk === null) return;
  const { pool, close } = await openEmbedded({ dir: path.join(disk, 'db') });
  try {
    await pool.query('create table t (i int primary key, pad text)');
    const ballast = fillDisk(disk, 4 * MIB);
    let stored = 0;
    const insert = (): Promise<unknown> =>
      pool.query(`insert into t select g, repeat('x', 500) from generate_series($1::int, $1::int + 999) g`, [stored]);
    const count = async (): Promise<unknown> => (await pool.query('select count(*)::int as n from t')).rows;
    await assert.rejects(async () => {
      for (; stored < ROWS_MAX; stored += 1_000) await insert();
    }, /no space left.*\(the disk that holds \S+ is full: free some space, nothing of this statement was stored\)/i);
    assert.deepEqual(await count(), [{ n: stored }]);
    rmSync(ballast);
    await insert();
    assert.deepEqual(await count(), [{ n: stored + 1_000 }]);
  } finally {
    await close();
  }
});

test('when the disk has no room for the write-ahead log, no acknowledged row is lost', async (t) => {
  const disk = smallDisk(t, '160m');
  if (disk === null) return;
  const root = temporaryDirectory();
  const dir = path.join(disk, 'db');
  const ackFile = path.join(root, 'acks');
  const writer = await startWriter(dir, ackFile, 20);
  t.after(() => writer.child.kill('SIGKILL'));
  const ballast = fillDisk(disk, 0);
  assert.equal(await ended(writer), EXIT_ENGINE_STOPPED, writer.stderr());
  assert.match(writer.stderr(), /^the disk that holds \S+ is full and the database has stopped: free some space .*\n$/);
  rmSync(ballast);
  await assertAcknowledged(dir, ackFile, 'after the disk was full');
});

test('a first start on a disk that is too small fails, and only the lock file remains', async (t) => {
  const disk = smallDisk(t, '20m');
  if (disk === null) return;
  await assert.rejects(openEmbedded({ dir: path.join(disk, 'db') }), {
    name: 'OperatorError',
    message: /the disk that holds \S+ is full: free some space and start again/,
  });
  assert.deepEqual(readdirSync(disk), ['db.lock']);
});

/** Mounts a new file system and unmounts it after the test. If no file system can be mounted, skips the test and returns null. */
function smallDisk(t: TestContext, size: string): string | null {
  const root = temporaryDirectory();
  const disk = path.join(root, 'disk');
  const mounted = mountMemory(size, disk);
  if ('reason' in mounted) {
    t.skip(mounted.reason);
    return null;
  }
  t.after(() => {
    mounted.unmount();
  });
  return disk;
}
