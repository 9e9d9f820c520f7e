// Daily backups: a folder in which each backup is named by its time, standard output, and the last backup in the status, the checks and the
// metrics.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { programEnvironment } from '../../../support/program-environment.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { until } from '../../../support/until.ts';
import type { Settings } from './backups.ts';
import { mercat, startMercat } from './backups.ts';

const MAIN = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url));
const WAIT_LIMIT_MS = 120_000;
const HOUR_MS = 3_600_000;

function newFolder(): string {
  const folder = path.join(temporaryDirectory(), 'backups');
  mkdirSync(folder);
  return folder;
}

async function readLast(settings: Settings): Promise<{ status: unknown; level: string }> {
  const status = JSON.parse((await mercat(settings, 'status', '--json')).stdout).backup;
  const findings = JSON.parse((await mercat(settings, 'doctor', '--json')).stdout) as { name: string; level: string }[];
  return { status, level: findings.find(({ name }) => name === 'backup')?.level ?? 'absent' };
}

forOneEngine('daily backups', (engine) => {
  test('a folder keeps the newest backups, and other files; the last backup is shown', async () => {
    const settings = await engine.settings();
    const folder = newFolder();
    for (const name of ['mercat-2026-01-01T031500Z', 'mercat-2026-01-02T031500Z', 'mercat-before-upgrade', 'notes']) {
      writeFileSync(path.join(folder, name), '');
    }
    assert.deepEqual(await readLast(settings), { status: null, level: 'warn' });
    const made = await mercat(settings, 'backup', folder, '--keep', '2', '--json');
    assert.equal(made.code, 0, made.stderr);
    const { file, createdAt, bytes, rows, notRecorded } = JSON.parse(made.stdout);
    assert.match(path.basename(file), /^mercat-\d{4}-\d{2}-\d{2}T\d{6}Z$/);
    const kept = ['mercat-2026-01-02T031500Z', path.basename(file), 'mercat-before-upgrade', 'notes'];
    assert.deepEqual(readdirSync(folder), kept);
    const { status, level } = await readLast(settings);
    const { ageSeconds, ...last } = status as { ageSeconds: number };
    assert.deepEqual(last, { at: createdAt, bytes, rows });
    assert.ok(ageSeconds < WAIT_LIMIT_MS / 1_000);
    assert.deepEqual([notRecorded, level], [null, 'ok']);
  });

  test('of two services that share a folder, each removes only its own backups and its own abandoned files', async () => {
    const settings = { ...(await engine.settings()), SERVICE_NAME: 'west' };
    const folder = newFolder();
    const ownAbandoned = 'west-2026-01-02T031500Z.part-7-0a1b2c3d';
    const othersAbandoned = 'mercat-2026-01-02T031500Z.part-7-0a1b2c3d';
    const inProgress = 'west-2026-01-03T031500Z.part-8-0a1b2c3d';
    const others = ['mercat-2026-01-01T031500Z', 'mercat-2026-01-02T031500Z', 'west-note.part-7-0a1b2c3d'];
    for (const name of ['west-2026-01-01T031500Z', ownAbandoned, othersAbandoned, inProgress, ...others])
      writeFileSync(path.join(folder, name), '');
    const dayAgo = Date.now() / 1_000 - 86_400;
    for (const name of [ownAbandoned, othersAbandoned, 'west-note.part-7-0a1b2c3d'])
      utimesSync(path.join(folder, name), dayAgo, dayAgo);
    const { code, stdout, stderr } = await mercat(settings, 'backup', folder, '--keep', '1', '--json');
    assert.deepEqual([code, stderr], [0, '']);
    const made = path.basename(JSON.parse(stdout).file);
    assert.match(made, /^west-/);
    assert.deepEqual(readdirSync(folder).toSorted(), [othersAbandoned, made, inProgress, ...others].toSorted());
  });

  test('backups that a wrong clock has named for a later time are neither counted nor removed, and are reported', async () => {
    const settings = await engine.settings();
    const folder = newFolder();
    const future = ['mercat-2999-01-01T031500Z', 'mercat-2999-01-02T031500Z'];
    for (const name of ['mercat-2026-01-01T031500Z', 'mercat-2026-01-02T031500Z', ...future])
      writeFileSync(path.join(folder, name), '');
    const { code, stdout, stderr } = await mercat(settings, 'backup', folder, '--keep', '2', '--json');
    assert.equal(code, 0, stderr);
    const made = path.basename(JSON.parse(stdout).file);
    assert.deepEqual(readdirSync(folder).toSorted(), ['mercat-2026-01-02T031500Z', made, ...future].toSorted());
    assert.match(
      stderr,
      /2 backups .* still to come, such as mercat-2999-01-01T031500Z: .* neither counted nor removed/,
    );
  });

  test('a failed backup removes nothing', async () => {
    const settings = await engine.settings('empty');
    const folder = newFolder();
    writeFileSync(path.join(folder, 'mercat-2026-01-01T031500Z'), '');
    writeFileSync(path.join(folder, 'mercat-2026-01-02T031500Z'), '');
    // The database has no schema yet.
    const failed = await mercat(settings, 'backup', folder, '--keep', '1');
    assert.equal(failed.code, 1, failed.stdout);
    assert.equal(readdirSync(folder).length, 2);
  });

  test('standard output gets a file that can be restored', async () => {
    const settings = await engine.settings();
    const folder = newFolder();
    const file = path.join(folder, 'piped');
    const env = { ...programEnvironment(), LOG_LEVEL: 'error', PRICE_SOURCES: 'none', ...settings };
    const options = { env, stdio: ['ignore', openSync(file, 'w'), 'pipe'] as const, encoding: 'utf8' as const };
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'backup', '-'], {
      ...options,
      stdio: [...options.stdio],
    });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /rows of \d+ tables in -/);
    const restored = await mercat(settings, 'restore', file, '--replace');
    assert.equal(restored.code, 0, restored.stderr);
  });

  test('a database of which only backups were made is restored without --replace', async () => {
    const settings = await engine.settings();
    const file = path.join(newFolder(), 'file');
    const made = await mercat(settings, 'backup', file);
    assert.equal(made.code, 0, made.stderr);
    const restored = await mercat(settings, 'restore', file);
    assert.equal(restored.code, 0, restored.stderr);
  });

  test('with --every, a backup is made when the newest one is old enough, until SIGTERM', async (t) => {
    const settings = await engine.settings();
    const folder = newFolder();
    // The second one is of a time that is still to come. Counted, it would make the next backup wait longer than a timer can.
    for (const name of [nameAt(Date.now() - HOUR_MS + 5_000), 'mercat-2999-01-01T031500Z'])
      writeFileSync(path.join(folder, name), '');
    const { child, ended } = startMercat(settings, ['backup', folder, '--every', '1']);
    t.after(() => child.kill('SIGKILL'));
    await until(
      async () => readdirSync(folder).filter((name) => /^mercat-\S+Z$/.test(name)).length === 3,
      WAIT_LIMIT_MS,
      'no backup was made',
    );
    child.kill('SIGTERM');
    const { stdout, stderr } = await ended;
    assert.equal(stdout.split('\n').length, 2, stdout);
    assert.doesNotMatch(stderr, /Warning/);
    assert.equal(readdirSync(folder).length, 3);
  });
});

const nameAt = (time: number): string => `mercat-${new Date(time).toISOString().slice(0, 19).replaceAll(':', '')}Z`;

test('--keep without a folder is a mistake', async () => {
  const { code, stderr } = await mercat({}, 'backup', '/nowhere/file', '--keep', '3');
  assert.deepEqual([code, stderr.includes('need a folder that exists')], [2, true]);
});
