// Tests docs/importing.md. Files of each kind can be imported. For a file with one mistake, the command prints what the table in this
// document says. Every row that is not imported is counted.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, beforeEach, test } from 'node:test';
import { createImport } from '../../../src/cli/import/import.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { LocalIntake } from '../../../src/intake/connection.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { emptyTables, ingest, NOW, toContext } from '../../support/service/intake.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { disposable, runCommand } from '../run-command.ts';
import type { GuideFile } from './guide-files.ts';
import { GUIDE, GUIDE_COLLECTIONS } from './guide-files.ts';

const PAGE = new URL('../../../docs/importing.md', import.meta.url);
/** Keeps only the first of the lines that have the same reason. */
function withoutRepetition(lines: readonly string[]): string[] {
  const reasons = lines.map((line) => line.replace(/^\S+:(?:\d+| page \d+, row \d+): /, ''));
  return lines.filter((_, index) => reasons.indexOf(reasons[index] ?? '') === index);
}

const START = '<!-- The test of this page writes this table with WRITE_DOCS=1. -->\n';

forOneEngine('the guide to imports', (engine) => {
  let db: Database;
  const dir = temporaryDirectory();
  before(async () => {
    db = await engine.open();
    await db.query(`insert into main.shop (id, name, created_at) values ('shop_1', 's', now())`);
  });
  beforeEach(() => emptyTables(db));

  const connect = () => Promise.resolve(disposable(new LocalIntake(toContext(db))));
  const define = createImport({ connect, chains: () => createChains(), clock: () => NOW });

  const run = async ({ name, content, options = [], map }: GuideFile, ...more: string[]) => {
    const file = path.join(dir, name);
    writeFileSync(file, content);
    const mapFile = `${file}.map.json`;
    if (map) writeFileSync(mapFile, JSON.stringify(map));
    const args = ['import', file, ...options, ...(map ? ['--map', mapFile] : []), '--dry-run', ...more];
    const { code, stdout, stderr } = await runCommand(define, args);
    return { code, stdout, stderr: stderr.replaceAll(`${dir}/`, '') };
  };

  for (const { title, valid } of GUIDE) {
    test(`${title}: all rows of a valid file are stored`, async () => {
      await ingest(db, ...GUIDE_COLLECTIONS);
      const { code, stdout } = await run(valid, '--json');
      const { read, inserted, refused, warnings, unknownCollections } = JSON.parse(stdout) as Record<string, unknown>;
      assert.deepEqual([code, read, inserted, refused], [0, 3, 3, 0]);
      assert.deepEqual([warnings, unknownCollections], [{}, {}]);
    });
  }

  test('the table of docs/importing.md has what the command prints for each mistake', async () => {
    await ingest(db, ...GUIDE_COLLECTIONS);
    const rows = ['| file | mistake | what is printed |', '|---|---|---|'];
    for (const { title, valid, mistakes } of GUIDE) {
      for (const [mistake, fields] of mistakes) {
        const { code, stdout, stderr } = await run({ ...valid, ...fields });
        const read = Number(/^dry run: (\d+) (?:rows|records)/.exec(stdout)?.[1]);
        // The import counts all rows, or ends with an error about the rows that it did not read. A page of
        // a vendor's response that is not JSON in UTF-8 counts as one row.
        const isPage = title.startsWith('page of') && stderr.includes(' page 1: ');
        assert.ok(
          code === 2 || /: stopped .* not read|file ends within/.test(stderr) || read === (isPage ? 1 : 3),
          `${title}, ${mistake}: ${stdout}${stderr}`,
        );
        const [counts = '', ...notes] = stdout.split('\n').filter(Boolean);
        const result = /\d+ inserted.* refused/.exec(counts)?.[0].replace(/, 0 updated, 0 unchanged/, '');
        const printed = [
          ...(result === undefined ? [] : [result]),
          ...withoutRepetition(stderr.split('\n').filter(Boolean)),
          ...notes,
        ];
        const cells = printed.map((line) => `\`${line.replaceAll('|', '\\|').replaceAll('`', "'")}\``);
        rows.push(`| ${title} | ${mistake} | ${cells.join('<br>')} |`);
      }
    }
    const table = `${rows.join('\n')}\n`;
    const page = readFileSync(PAGE, 'utf8');
    const [intro = ''] = page.split(START);
    if (process.env['WRITE_DOCS'] === '1') writeFileSync(PAGE, `${intro}${START}\n${table}`);
    else
      assert.equal(
        page.split(START)[1]?.trim(),
        table.trim(),
        'run this test with WRITE_DOCS=1 and read the difference',
      );
  });
});
