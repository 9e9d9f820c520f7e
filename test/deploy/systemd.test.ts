// Tests that systemd accepts the units in deploy/systemd, that it rates the sandbox of each unit as docs/deploying.md states, and that the units
// can run beside each other with one file of settings.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programEnvironment } from '../support/program-environment.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The units of processes that go on. */
const PROCESSES = ['mercat.service', 'mercat-worker.service'];
const UNITS = [...PROCESSES, 'mercat-backup.service', 'mercat-backup.timer'];
const PROGRAM = '/opt/mercat/bin/mercat';
const LAUNCHER = fileURLToPath(new URL('../../bin/mercat.mjs', import.meta.url));
/** The rating in docs/deploying.md. systemd prints the rating with one digit after the point. A lower rating is better. */
const EXPOSURE = '1.1';

const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
const skip = isInstalled ? false : 'systemd-analyze is not on this machine';

/** Copies the units to a directory, with a program that exists on every machine. Returns their paths. */
function copyUnits(): string[] {
  const directory = temporaryDirectory();
  return UNITS.map((name) => {
    const text = readFileSync(fileURLToPath(new URL(`../../deploy/systemd/${name}`, import.meta.url)), 'utf8');
    assert.equal(text.includes(`ExecStart=${PROGRAM} `), name.endsWith('.service'));
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
  assert.ok(documentation.includes(`rates the three services ${EXPOSURE},`));
  for (const file of copyUnits().filter((name) => name.endsWith('.service'))) {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' });
    assert.match(stdout, new RegExp(`Overall exposure level for ${path.basename(file)}: ${EXPOSURE} OK`));
  }
});

/** The value of a variable in a unit: from `Environment=`, or from the last of the files in `EnvironmentFile=` that names it. */
function readEnvironment(name: string, variable: string, files: Readonly<Record<string, string>>): string | undefined {
  const text = readFileSync(new URL(`../../deploy/systemd/${name}`, import.meta.url), 'utf8');
  const valuesOf = (directive: string) =>
    [...text.matchAll(new RegExp(`^${directive}=-?(.*)$`, 'gm'))].map(([, value = '']) => value);
  const assignments = [
    ...valuesOf('Environment').flatMap((line) => line.split(' ')),
    ...valuesOf('EnvironmentFile').flatMap((file) =>
      (files[file.replace('%N', name.replace('.service', ''))] ?? '').split('\n'),
    ),
  ];
  return assignments.findLast((line) => line.startsWith(`${variable}=`))?.slice(variable.length + 1);
}

test('the port for the metrics of the worker is not among the ports of 64 serving processes', () => {
  const [serving, worker] = PROCESSES.map((name) => {
    const port = readEnvironment(name, 'METRICS_ADDRESS', {})?.split(':').at(-1);
    return Number(port);
  });
  assert.ok(serving !== undefined && worker !== undefined);
  assert.ok(worker < serving || worker >= serving + 64, `${serving} and ${worker}`);
});

test('the units have different addresses for metrics and different data directories, and a file of settings each', () => {
  for (const variable of ['METRICS_ADDRESS', 'DATA_DIR']) {
    const values = PROCESSES.map((name) => readEnvironment(name, variable, {}));
    assert.ok(!values.includes(undefined), variable);
    assert.equal(new Set(values).size, PROCESSES.length, variable);
  }
  const files = {
    '/etc/mercat/settings.env': 'LOG_LEVEL=info\nMETRICS_ADDRESS=10.0.0.1:1',
    '/etc/mercat/mercat.env': 'METRICS_ADDRESS=10.0.0.1:2',
    '/etc/mercat/mercat-worker.env': 'METRICS_ADDRESS=10.0.0.1:3',
  };
  const read = (variable: string) => PROCESSES.map((name) => readEnvironment(name, variable, files));
  assert.deepEqual(read('METRICS_ADDRESS'), ['10.0.0.1:2', '10.0.0.1:3']);
  assert.deepEqual(read('LOG_LEVEL'), ['info', 'info']);
});

test('a unit is not started again after wrong settings, and is started again after any other failure', () => {
  const startOf = (name: string) => {
    const text = readFileSync(new URL(`../../deploy/systemd/${name}`, import.meta.url), 'utf8');
    const args = new RegExp(`^ExecStart=${PROGRAM} (.*)$`, 'm').exec(text)?.[1]?.split(' ') ?? assert.fail(name);
    const final = /^RestartPreventExitStatus=(\d+)$/m.exec(text)?.[1];
    return (settings: Record<string, string>): boolean => {
      const env = { ...programEnvironment(), PRICE_SOURCES: 'none', DATA_DIR: temporaryDirectory(), ...settings };
      const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], { env, encoding: 'utf8' });
      assert.ok(status !== null && status !== 0, stderr);
      return String(status) !== final;
    };
  };
  for (const isStartedAgain of PROCESSES.map(startOf)) {
    assert.equal(isStartedAgain({ PRICE_SOURCES: 'nobody' }), false);
    assert.equal(isStartedAgain({ DATABASE_URL: 'postgres://127.0.0.1:1/none', PORT: '0' }), true);
  }
});
