// Tests that systemd accepts the units in deploy/systemd, and that it rates the sandbox of each unit as docs/deploying.md states.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const UNITS = ['mercat.service', 'mercat-worker.service'];
const PROGRAM = '/opt/mercat/bin/mercat';
/** The rating in docs/deploying.md. systemd prints the rating with one digit after the point. A lower rating is better. */
const EXPOSURE = '1.1';

const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
const skip = isInstalled ? false : 'systemd-analyze is not on this machine';

/** Copies the units to a directory, with a program that exists on every machine. Returns their paths. */
function copyUnits(): string[] {
  const directory = temporaryDirectory();
  return UNITS.map((name) => {
    const text = readFileSync(fileURLToPath(new URL(`../../deploy/systemd/${name}`, import.meta.url)), 'utf8');
    assert.ok(text.includes(`ExecStart=${PROGRAM} `));
    const file = path.join(directory, name);
    writeFileSync(file, text.replace(PROGRAM, process.execPath));
    return file;
  });
}

test('systemd accepts the units without a warning', { skip }, () => {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...copyUnits()], { encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
});

test('the sandbox of each unit has the rating that the documentation states', { skip }, () => {
  const documentation = readFileSync(new URL('../../docs/deploying.md', import.meta.url), 'utf8');
  assert.ok(documentation.includes(`rates both units ${EXPOSURE},`));
  for (const file of copyUnits()) {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' });
    assert.match(stdout, new RegExp(`Overall exposure level for ${path.basename(file)}: ${EXPOSURE} OK`));
  }
});
