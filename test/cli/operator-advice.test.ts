// Tests what an operator reads about a machine that is not as it should be: few file descriptors, a damaged database, a temporary folder that
// cannot be written. Everything that a service writes to standard error while it runs is JSON.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openScratch } from '../../src/platform/database/scratch.ts';
import { defineDoctor } from '../../src/cli/doctor/doctor.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { fillDisk, mountMemory } from '../support/engines/file-systems.ts';
import { programEnvironment } from '../support/program-environment.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { runCommand } from './run-command.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const OFFLINE = { PRICE_SOURCES: 'none' };

describe('the advice for an operator', () => {
  after(cleanUp);

  test('mercat doctor warns of a low limit of open files', { skip: process.platform !== 'linux' }, () => {
    const doctor = (limit: number) =>
      spawnSync('sh', ['-c', `ulimit -n ${limit} && exec "$0" "$1" doctor`, process.execPath, MAIN], {
        env: { ...programEnvironment(), ...OFFLINE, DATA_DIR: temporaryDirectory() },
        encoding: 'utf8',
      }).stdout;
    assert.match(doctor(512), /^warn {2}open files: .* 512 files .*\n +-> raise the limit .* to 1024 or more$/m);
    assert.match(doctor(2_048), /^ok {4}open files: .* 2048 files/m);
  });

  test('mercat doctor advises to restore a backup when the files of the embedded database are damaged', async () => {
    const DATA_DIR = await directoryWithDatabase();
    writeFileSync(path.join(DATA_DIR, 'db', 'global', 'pg_control'), 'damaged');
    const { code, stdout } = await runCommand(defineDoctor, ['doctor'], { env: { ...OFFLINE, DATA_DIR } });
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^FAIL {2}primary database: .*\n +-> if its files are damaged, move \S+\/db away and restore a backup/m,
    );
  });

  test('mercat doctor fails for a number of serving processes with which mercat serve does not start', async () => {
    const doctor = (settings: Record<string, string>) =>
      runCommand(defineDoctor, ['doctor'], { env: { ...OFFLINE, DATA_DIR: temporaryDirectory(), ...settings } });
    const { code, stdout } = await doctor({ WORKERS: '2' });
    assert.equal(code, 1);
    assert.match(stdout, /^FAIL {2}settings: 2 serving processes need PostgreSQL/m);
    const alone = await doctor({ WORKERS: '2', DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    assert.match(alone.stdout, /^FAIL {2}settings: 2 serving processes need Redis, .*: set REDIS_URL/m);
    assert.match((await doctor({ WORKERS: '1' })).stdout, /^ok {4}settings: every setting is valid$/m);
  });

  test('a service writes failures of the embedded database as JSON', async (t) => {
    const DATA_DIR = await directoryWithDatabase();
    const child = spawn(process.execPath, [MAIN, 'serve', '--no-sample'], {
      env: { ...programEnvironment(), ...OFFLINE, DATA_DIR, PORT: '0', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => child.kill('SIGKILL'));
    const stderr = text(child.stderr);
    await once(child.stdout, 'data');
    rmSync(path.join(DATA_DIR, 'db', 'pg_logical', 'snapshots'), { recursive: true });
    child.kill('SIGTERM');
    const lines = (await stderr).trimEnd().split('\n');
    const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
    assert.ok(
      messages.some((message) => message.startsWith('the last checkpoint failed: ')),
      messages.join('\n'),
    );
  });

  test('a service whose disk is full when it starts says so, and ends', { timeout: 60_000 }, async (t) => {
    const dataDir = temporaryDirectory();
    const disk = mountMemory('1m', dataDir);
    if ('reason' in disk) return t.skip(disk.reason);
    t.after(disk.unmount);
    fillDisk(dataDir, 0);
    const child = spawn(process.execPath, [MAIN, 'serve'], {
      env: { ...programEnvironment(), ...OFFLINE, DATA_DIR: dataDir, PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    t.after(() => child.kill('SIGKILL'));
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.match(stderr, /^mercat: cannot listen on \S+\/mercat\.sock: ENOSPC: no space left on device.*\n$/);
    assert.equal(code, 1);
  });

  test('an audit whose temporary folder cannot be written says so, and names the setting', async () => {
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = path.join(temporaryDirectory(), 'missing');
    try {
      await assert.rejects(openScratch(), {
        name: 'OperatorError',
        message: /^no temporary database can be created in \S+\/missing: ENOENT.*; set TMPDIR to another folder$/,
      });
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });
});
