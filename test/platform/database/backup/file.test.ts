// A backup file that is truncated, altered or written by a newer version is refused. Also tested: the usage errors of `mercat
// backup` and `mercat restore`.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { before, test } from 'node:test';
import { defineBackup } from '../../../../src/cli/backup.ts';
import { defineRestore } from '../../../../src/cli/restore.ts';
import { runCommand } from '../../../cli/run-command.ts';
import { DamagedBackup } from '../../../../src/platform/database/backup/file.ts';
import { toEnd, toHeader, verifyBackup } from '../../../../src/platform/database/backup/format.ts';
import { backUp, insertHardRows, mercat, never, withMigrated, writeLines } from './backups.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { copyDatabase } from '../../../support/engines/embedded-template.ts';

const dir = temporaryDirectory();
const validFile = path.join(dir, 'valid');
let files = 0;
const newFile = () => path.join(dir, `file-${(files += 1)}`);

before(async () => {
  await copyDatabase(path.join(dir, 'data', 'db'), 'empty');
  await withMigrated({ DATA_DIR: path.join(dir, 'data') }, async (databases) => {
    await insertHardRows(databases);
    await backUp(databases, validFile);
  });
});

test('a file is refused if it was truncated, if bytes were added, or if any byte was altered', async () => {
  const bytes = readFileSync(validFile);
  const file = newFile();
  const assertRefused = async (content: Uint8Array, what: string) => {
    writeFileSync(file, content);
    await assert.rejects(verifyBackup(file, { signal: never }), DamagedBackup, what);
  };
  const ends = [0, 1, 2, 3, 4, 39, 40, 41, 44, 45];
  const spread = Array.from({ length: 60 }, (_, i) => Math.floor((i * bytes.length) / 60));
  const positions = [...ends, ...ends.map((back) => bytes.length - 1 - back), ...spread];
  for (const length of positions) {
    await assertRefused(bytes.subarray(0, length), `cut to ${length} of ${bytes.length} bytes`);
  }
  for (const position of positions) {
    const altered = Uint8Array.from(bytes);
    altered[position] = (altered[position] ?? 0) ^ (1 << (position % 8));
    await assertRefused(altered, `byte ${position} of ${bytes.length} altered`);
  }
  await assertRefused(Buffer.concat([bytes, Buffer.from([0])]), 'one byte longer');
  await assertRefused(Buffer.concat([bytes, bytes]), 'the bytes of the file twice');
});

test('a file of a newer format, with a newer migration, from a program that is too old, or with rows missing is refused', async () => {
  const none = { main: [], indexer: [] };
  const header = toHeader({ service: '9.0.0', createdAt: '', migrations: none });
  const assertRefused = async (lines: string[], expected: RegExp) => {
    const file = newFile();
    await writeLines(file, lines);
    await assert.rejects(verifyBackup(file, { signal: never }), { name: 'OperatorError', message: expected });
  };
  await assertRefused(
    [header.replace('"version":1', '"version":2'), 'whatever'],
    /^\S+ was written by a newer version \(9\.0\.0\): its format is 2, and this program reads up to 1$/,
  );
  const withMigrations = (...names: string[]) =>
    toHeader({ service: '9.0.0', createdAt: '', migrations: { ...none, main: names.map((name) => ({ name })) } });
  await assertRefused(
    [withMigrations('0001-schema.sql', '9999-later.sql')],
    /^only a newer version can restore the backup: version 9\.0\.0 wrote it from a database whose schema main has migration 9999-later\.sql$/,
  );
  await assertRefused(
    [withMigrations('0001-marketplace.sql')],
    /^the backup is too old for this version: its schema main lacks the migration 0030-activity-of-wallets-by-chain\.sql; restore it with the last program before/,
  );
  const table = `{"table":{"schema":"main","name":"shop","columns":[]}}\n`;
  await assertRefused([header, table, '["a"]\n', toEnd({ 'main.shop': 2 })], /cut off or altered/);
  await assertRefused([header, table, '["a"]\n'], /cut off or altered/);
  await assertRefused([header, '["a"]\n', toEnd({})], /cut off or altered/);
  const file = newFile();
  await writeLines(file, [header, table, '["a"]\n', toEnd({ 'main.shop': 1 })]);
  assert.deepEqual((await verifyBackup(file, { signal: never })).counts, { 'main.shop': 1 });
});

test('backup and restore exit with 2 for wrong arguments', async () => {
  for (const [name, define] of Object.entries({ backup: defineBackup, restore: defineRestore })) {
    for (const args of [[], ['a', 'b'], ['a', '--wrong']]) {
      const { code, stdout } = await runCommand(define, [name, ...args]);
      assert.deepEqual([code, stdout], [2, '']);
    }
  }
  const nowhere = path.join(dir, 'nowhere');
  assert.equal((await mercat({ DATA_DIR: nowhere }, 'restore', newFile())).code, 2);
  const { code, stderr } = await mercat({ DATA_DIR: nowhere }, 'backup', newFile());
  assert.deepEqual([code, /there is no database in/.test(stderr), existsSync(nowhere)], [1, true, false]);
});
