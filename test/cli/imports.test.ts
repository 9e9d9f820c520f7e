// `mercat imports`, through a running server and without a server: what it prints, and its exit codes.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { defineImport } from '../../src/cli/import/import.ts';
import { defineImports } from '../../src/cli/imports.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';
import { collection, EVM, listing, sale, toNdjson, token } from '../support/service/intake.ts';
import { startTestService } from '../support/service/service.ts';
import { runCommand } from './run-command.ts';

test('an import is listed with its file and undone, with and without a running server', async () => {
  const dir = await directoryWithDatabase();
  const env = { DATA_DIR: dir };
  const file = path.join(dir, 'market.ndjson');
  writeFileSync(file, toNdjson([collection(), listing(), sale(), token({ name: 'One' })]));
  const imports = (...args: string[]) => runCommand(defineImports, ['imports', ...args], { env });
  const load = async () => {
    const { stdout } = await runCommand(defineImport, ['import', file], { env });
    return /mercat imports undo (imp_[0-9a-f]{32})\n$/.exec(stdout)?.[1] ?? assert.fail(stdout);
  };

  const service = await startTestService({ settings: env });
  try {
    assert.equal((await imports('list')).stdout, 'nothing was imported\n');
    const id = await load();
    await service.ok('/v1/collections/aa');
    assert.match((await imports('list')).stdout, new RegExp(`^ID .*\n${id} .* operator +${file} +4 .* 4 rows\n$`));

    const dryRun = await imports('undo', id, '--dry-run');
    assert.match(dryRun.stdout, /^dry run: sale: 1 to be deleted\n/m);
    assert.equal(dryRun.code, 0);
    await service.ok('/v1/collections/aa');

    const lines = ['token', 'sale', 'listing', 'collection'].map((kind) => `${kind}: 1 deleted\n`);
    const undone = await imports('undo', id);
    assert.deepEqual([undone.code, undone.stdout], [0, lines.join('')]);
    assert.equal((await service.get('/v1/collections/aa')).status, 404);
    assert.match((await imports('list')).stdout, / undone\n$/);
    assert.equal((await imports('undo', id)).stdout, `${id} has no rows that can be taken back\n`);
    const unknown = await imports('undo', 'imp_1');
    assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /there is no import "imp_1"; see mercat imports list/);
  } finally {
    await service.close();
  }

  const first = await load();
  writeFileSync(file, toNdjson([token({ name: 'Uno' })]));
  await load();
  const partly = await imports('undo', first, '--json');
  assert.equal(partly.code, 1);
  const result = JSON.parse(partly.stdout) as Record<string, unknown>;
  assert.deepEqual(result['kept'], [
    { kind: 'token', row: `ethereum_${EVM} 1`, reason: 'has changed since the import' },
  ]);
  assert.deepEqual([result['state'], result['complete']], ['partly undone', true]);
});
