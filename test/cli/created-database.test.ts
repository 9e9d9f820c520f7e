// Tests that a command which creates the embedded database says where, and that a command with a mistake creates none.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { defineImport } from '../../src/cli/import/import.ts';
import { defineShops } from '../../src/cli/shops.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { runCommand } from './run-command.ts';

describe('a data directory without a database', () => {
  const newDirectory = () => path.join(temporaryDirectory(), 'data');
  const hasDatabase = (dir: string) => existsSync(path.join(dir, 'db'));

  test('a shop with an invalid name creates no database', async () => {
    for (const name of ['', '   ', 'x'.repeat(161)]) {
      const DATA_DIR = newDirectory();
      const { code, stderr } = await runCommand(defineShops, ['shops', 'create', name], { env: { DATA_DIR } });
      assert.deepEqual([code, stderr], [2, 'mercat: the name of a shop must have 1 to 160 characters\n']);
      assert.equal(hasDatabase(DATA_DIR), false);
    }
  });

  test('the first shop and the first import say on standard error where the database is created, and the next ones do not', async () => {
    const record =
      '{"kind":"collection","chain":"ethereum","contractAddress":"0x0000000000000000000000000000000000000001"}\n';
    const commands = [
      [defineShops, ['shops', 'create', 'one', '--json'], ['shops', 'create', 'two', '--json']],
      [defineImport, ['import', '-', '--json'], ['import', '-', '--json']],
    ] as const;
    for (const [define, first, next] of commands) {
      const options = { env: { DATA_DIR: newDirectory() }, stdin: record };
      const line = `Creating the embedded database in ${options.env.DATA_DIR}, because DATABASE_URL is not set.\n`;
      assert.ok((await runCommand(define, first, options)).stderr.includes(line), first.join(' '));
      assert.equal(hasDatabase(options.env.DATA_DIR), true);
      assert.ok(!(await runCommand(define, next, options)).stderr.includes('Creating'), next.join(' '));
    }
  });
});
