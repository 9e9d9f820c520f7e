// Daily backups: a folder in which each backup is named by its time, standard output, and the last backup in the status, the checks and the
// metrics.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { programEnvironment } from '../../support/program-environment.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import type { Settings } from './backups.ts';
import { mercat, startMercat } from './backups.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const WAIT_LIMIT_MS = 120_000;

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

forEachEngine('daily backups', (engine) => {
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

  test('with --every, a backup is made when the newest one is old enough, until SIGTERM', async () => {
    const settings = await engine.settings();
    const folder = newFolder();
    const fresh = path.join(folder, 'mercat-2026-01-01T031500Z');
    writeFileSync(fresh, '');
    const hourAgo = Date.now() / 1_000 - 3_600;
    utimesSync(fresh, hourAgo, hourAgo + 5);
    const { child, ended } = startMercat(settings, ['backup', folder, '--every', '1']);
    await until(
      async () => readdirSync(folder).some((name) => /^mercat-\S+Z$/.test(name) && name > 'mercat-2026-01-02'),
      WAIT_LIMIT_MS,
      'no backup was made',
    );
    child.kill('SIGTERM');
    const { stdout } = await ended;
    assert.equal(stdout.split('\n').length, 2, stdout);
    assert.equal(readdirSync(folder).length, 2);
  });
});

test('--keep without a folder is a mistake', async () => {
  const { code, stderr } = await mercat({}, 'backup', '/nowhere/file', '--keep', '3');
  assert.deepEqual([code, stderr.includes('need a folder that exists')], [2, true]);
});
