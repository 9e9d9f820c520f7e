// Tests the output and the exit codes of `mercat import`, including the errors that it reports before it connects or writes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createImport } from '../../../src/cli/import/import.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { systemClock } from '../../../src/platform/core/clock.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { LocalIntake } from '../../../src/intake/connection.ts';
import { forEachEngine, forOneEngine } from '../../support/engines/each-engine.ts';
import { disposable, runCommand } from '../run-command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import {
  collection,
  emptyTables,
  EVM,
  listing,
  order,
  product,
  sale,
  toContext,
  token,
  toNdjson,
} from '../../support/service/intake.ts';

const tokens = (count: number) => Array.from({ length: count }, (_, i) => token({ tokenId: String(i) }));
const CSV = ['--format', 'csv', '--set', 'kind=token', '--set', 'chain=ethereum', '--set', `contractAddress=${EVM}`];

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const dir = temporaryDirectory();

function file(name: string, content: string | Uint8Array): string {
  const filePath = path.join(dir, name);
  writeFileSync(filePath, content);
  return filePath;
}

forOneEngine('mercat import', (engine) => {
  let db: Database;
  let connections = 0;
  let open = 0;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(async () => {
    connections = 0;
    await emptyTables(db);
  });
  after(() => assert.equal(open, 0, 'a connection was left open'));

  const connect = () => {
    connections += 1;
    open += 1;
    return Promise.resolve(
      disposable(new LocalIntake(toContext(db)), () => {
        open -= 1;
      }),
    );
  };
  const define = createImport({ connect, chains: () => createChains(), clock: systemClock });
  const run = (args: string[], options: { stdin?: string; signal?: AbortSignal } = {}) =>
    runCommand(define, ['import', ...args], options);

  test('mercat import prints one line with the sums of the counts of several files', async () => {
    const first = file('first.ndjson', toNdjson(tokens(3)));
    const second = file('second.ndjson.gz', gzipSync(toNdjson([collection(), ...tokens(5)])));
    const { code, stdout, stderr } = await run([first, second]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^9 rows \([\d,]+\/s\): 6 inserted, 0 updated, 3 unchanged, 0 refused, in \d+\.\d s\n(to take this back: mercat imports undo imp_\w+\n){2}$/,
    );
    assert.equal(stderr, '');
    assert.equal(connections, 1);
  });

  test('mercat import reads standard input', async () => {
    const dry = await run(['-', '--dry-run'], { stdin: toNdjson(tokens(2)) });
    assert.match(dry.stdout, /^dry run: 2 rows .* 2 inserted/);
    assert.doesNotMatch(dry.stdout, /batch/);
    const long = await run(['-', '--dry-run'], { stdin: toNdjson(tokens(501)) });
    assert.match(
      long.stdout,
      /^note: a dry run compares each batch of at most 10000 records with the stored rows only; .*\n$/m,
    );
    assert.match((await run(['-'], { stdin: toNdjson(tokens(2)) })).stdout, /2 inserted/);
    assert.match((await run(['-', '--json'], { stdin: '' })).stdout, /"read":0/);
  });

  test('mercat import with --json prints exactly one JSON value', async () => {
    const { code, stdout } = await run([file('j.ndjson', toNdjson([...tokens(2), 'x'])), '--json']);
    assert.equal(code, 1);
    const { seconds, imports, ...summary } = JSON.parse(stdout) as Record<string, unknown>;
    assert.equal(typeof seconds, 'number');
    assert.match(String(imports), /^imp_[0-9a-f]{32}$/);
    const token = { inserted: 2, updated: 0, unchanged: 0, conflict: 0, refused: 0 };
    const counts = { read: 3, ...token, refused: 1, byKind: { token }, skippedLines: 0 };
    const unknownCollections = { [`ethereum_${EVM}`]: 2 };
    assert.deepEqual(summary, { ...counts, warnings: {}, unknownCollections, createdCollections: [] });
  });

  test('mercat import reports conflicts, warns of prices that are probably wrong, and names collections without a record', async () => {
    const other = '0x00000000000000000000000000000000000000bb';
    await run([file('before.ndjson', toNdjson([sale({ tx: '0x1', price: '5900' })]))]);
    const doubtful = [
      sale({ tx: '0x1', price: '59' }),
      sale({ tokenId: '2', price: '59.9' }),
      sale({ tokenId: '3', price: '0' }),
      listing({ contractAddress: other }),
    ];
    const doubtfulFile = file('doubtful.ndjson', toNdjson(doubtful));
    for (const args of [[doubtfulFile, '--dry-run'], [doubtfulFile]]) {
      const { code, stdout, stderr } = await run(args);
      assert.equal(code, 1);
      assert.match(stderr, /doubtful\.ndjson:1: conflict: this sale is stored with price "5900", not "59"\n$/);
      const lines = stdout.trim().split('\n');
      assert.match(lines[0] ?? '', /3 inserted, 0 updated, 0 unchanged, 1 in conflict with stored rows, 0 refused/);
      assert.match(
        lines[1] ?? '',
        /^warning: the price of 1 record .* not served by \/v1 \(line 2: "59\.9"\); .*native-amount/,
      );
      assert.match(lines[2] ?? '', /^warning: a price of 1 record is 0: .* \(line 3: "0"\)/);
      assert.match(lines[3] ?? '', /^warning: the price of 2 records is below .* \(line 1: "59"\); .*native-amount/);
      assert.match(lines[4] ?? '', new RegExp(`^warning: 4 records have no .*: ethereum_${EVM}, ethereum_${other};`));
      assert.equal(lines.length, args.length > 1 ? 5 : 6);
    }
    assert.equal((await run([doubtfulFile, '--replace', '--dry-run'])).code, 0);
    // The record of a collection can be in a later file.
    const later = file('later.ndjson', toNdjson([collection({ contractAddress: other, slug: 'bb' })]));
    const both = await run([doubtfulFile, later, '--dry-run', '--json']);
    const { unknownCollections, warnings } = JSON.parse(both.stdout) as Record<string, unknown>;
    assert.deepEqual(unknownCollections, { [`ethereum_${EVM}`]: 3 });
    assert.deepEqual(warnings, {
      unreadablePrice: { count: 1, line: 2, value: '59.9' },
      zeroPrice: { count: 1, line: 3, value: '0' },
      tinyPrice: { count: 2, line: 1, value: '59' },
    });
  });

  test('a sale in an unknown currency gives a warning that speaks of the column of the currency, not of the unit of the price', async () => {
    const csv = file('blank.csv', 'id,price,currency\n1,6.27e+16,\n2,5,ERC20\n');
    const map = { tokenId: 'id', price: { column: 'price', as: 'base-amount', currency: 'currency' } };
    const place = [
      '--set',
      'chain=ethereum',
      '--set',
      `contractAddress=${EVM}`,
      '--set',
      'timestamp=2026-05-01T10:30:00Z',
    ];
    const columns = [
      '--map',
      file('blank.json', JSON.stringify(map)),
      '--set',
      'kind=sale',
      '--set',
      'source=x',
      ...place,
    ];
    const { stdout } = await run([csv, ...columns, '--dry-run']);
    const [warning = ''] = stdout.split('\n').filter((line) => line.startsWith('warning: '));
    assert.match(
      warning,
      /^warning: the currency of 2 records is not known: .* \(line 2: "6\.27e\+16 \(unknown currency\)"\); .*"currency"/,
    );
    assert.doesNotMatch(warning, /native-amount|base-amount/);
  });

  test('with --create-collections, each collection without a record gets a record with its address as the name', async () => {
    const other = '0x00000000000000000000000000000000000000bb';
    await run([file('named.ndjson', toNdjson([collection()]))]);
    const mint = 'So11111111111111111111111111111111111111112';
    const records = [
      sale(),
      sale({ contractAddress: other }),
      order({ contractAddress: other }),
      token({ chain: 'solana', contractAddress: mint, tokenId: undefined, mint }),
      { kind: 'stats', chain: 'base', contractAddress: other, owners: 1 },
    ];
    const created = [`base_${other}`, `ethereum_${other}`, `solana_${mint.toLowerCase()}`];
    const readAll = () => db.query('select id, chain, contract_address, name from main.collection order by id');
    const command = [file('rows.ndjson', toNdjson(records)), '--create-collections'];
    for (const option of ['--dry-run', '--replace']) {
      const { code, stdout } = await run([...command, option]);
      assert.equal(code, 0);
      assert.match(
        stdout,
        new RegExp(`\\ncreated 3 collection records with the address as the name: ${created.join(', ')}\\n`),
      );
      assert.doesNotMatch(stdout, /warning: .* no collection record/);
      assert.equal((await readAll()).length, option === '--dry-run' ? 1 : 4);
    }
    assert.deepEqual(await readAll(), [
      { id: created[0], chain: 'base', contract_address: other, name: other },
      { id: `ethereum_${EVM}`, chain: 'ethereum', contract_address: EVM, name: 'Collection A' },
      { id: created[1], chain: 'ethereum', contract_address: other, name: other },
      { id: created[2], chain: 'solana', contract_address: mint, name: mint },
    ]);
    const again = JSON.parse((await run([...command, '--json'])).stdout) as Record<string, unknown>;
    assert.deepEqual([again['createdCollections'], again['unknownCollections']], [[], {}]);
    await run([file('name.ndjson', toNdjson([collection({ contractAddress: other, slug: 'bb', name: 'B' })]))]);
    assert.equal((await run(command)).code, 0);
    assert.equal((await readAll())[2]?.['name'], 'B');
  });

  test('mercat import counts products whose slug occurred before in the same import', async () => {
    const products = [product(), product({ name: 'Cup' }), product({ inventory: 3 })];
    const { stdout } = await run(['-', '--dry-run'], { stdin: toNdjson(products) });
    assert.doesNotMatch(stdout, /slug/, 'rejected records were counted');
    await db.query(`insert into main.shop (id, name, created_at) values ('shop_1', 's', now())`);
    const known = await run(['-', '--dry-run'], { stdin: toNdjson(products) });
    assert.match(known.stdout, /warning: 1 record .* slug of an earlier product .* \(line 3: "mug"\)/);
  });

  test('mercat import prints the first twenty refused rows, and writes all of them to the file of --refused', async () => {
    const invalid = file('bad.ndjson', toNdjson([...tokens(1), ...Array.from({ length: 30 }, () => ({ kind: 'x' }))]));
    const all = path.join(dir, 'refused.ndjson');
    const { code, stdout, stderr } = await run([invalid, '--refused', all]);
    assert.equal(code, 1);
    assert.match(stdout, /1 inserted, .* 30 refused/);
    const lines = stderr.trim().split('\n');
    assert.equal(lines.length, 21);
    assert.match(lines[0] ?? '', new RegExp(`^${invalid}:2: kind: must be one of`));
    assert.equal(lines[20], `… and 10 more refused; all are in ${all}`);
    const written = readFileSync(all, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      written.map(({ file: name, line }) => [name, line]),
      Array.from({ length: 30 }, (_, i) => [invalid, i + 2]),
    );
    assert.match(String(written[0]?.['reason']), /^kind: must be one of/);
  });

  test('mercat import counts the unreadable lines of a JSON file, and stores the other rows', async () => {
    const [one, two, three] = tokens(3).map((row) => JSON.stringify(row, null, 2));
    const text = `[\n${one},\n${two?.replace('"1"', '"1')},\n${three}\n]\n`;
    const { code, stdout, stderr } = await run([file('a.json', text), '--json']);
    const { read, inserted, refused, skippedLines } = JSON.parse(stdout) as Record<string, number>;
    const lines = two?.split('\n').length ?? 0;
    assert.deepEqual([code, read, inserted, refused, skippedLines], [1, 3, 2, 1, lines - 1]);
    assert.match(stderr, /a\.json:8: a quote on line 12 is not closed; lines 8 to \d+ were not read\n$/);
    const cutOff = await run([file('b.json', `[\n${one},\n${three},\n`), '--json']);
    const { error, ...counts } = JSON.parse(cutOff.stdout) as Record<string, unknown>;
    assert.deepEqual([counts['read'], counts['unchanged']], [2, 2]);
    assert.match(
      String(error),
      /stopped after 2 rows were stored: the file ends within the array that begins on line 1; /,
    );
  });

  test('control characters in imported text are not sent to the terminal', async () => {
    const { stderr } = await run(['-'], { stdin: '{"kind":"token","\u001b[2J\u009b":1}\n\u001b]0;x\u0007\n' });
    // oxlint-disable-next-line no-control-regex -- the test searches for control characters
    assert.doesNotMatch(stderr.replaceAll('\n', ''), /[\u0000-\u001f\u007f-\u009f]/);
  });

  test('mercat import reads CSV with the columns from options or from a map', async () => {
    const csv = file('t.csv', 'id,title,when:utc-time\n1,A,x\n2,B,y\n');
    const byFlags = [
      csv,
      ...CSV,
      '--column',
      'tokenId=id',
      '--column',
      'name=title',
      '--column',
      'image=when:utc-time:bytea',
    ];
    assert.equal((await run(byFlags)).code, 0);
    const rows = await db.query('select asset, name, image from indexer.token order by asset');
    assert.deepEqual(rows, [
      { asset: '1', name: 'A', image: 'x' },
      { asset: '2', name: 'B', image: 'y' },
    ]);
    const map = { kind: { value: 'token' }, chain: { value: 'base' }, contractAddress: { value: EVM }, tokenId: 'id' };
    const mapFile = file('map.json', JSON.stringify(map));
    assert.equal(
      (await run([csv, '--format', 'csv', '--map', mapFile, '--set', 'chain=ethereum', '--set', 'name=Z'])).code,
      0,
    );
    assert.equal((await db.query(`select from indexer.token where name = 'Z'`)).length, 2);
  });

  test('a failure is reported with its file and cause, on standard error and in the JSON', async () => {
    const csv = file('f.csv', 'id\n1\n');
    const { code, stdout, stderr } = await run([csv, ...CSV, '--column', 'tokenId=no', '--json']);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^mercat: .*f\.csv: stopped before any row was stored: the column map takes tokenId from the column "no"/,
    );
    assert.match((JSON.parse(stdout) as { error: string }).error, /f\.csv: stopped before/);
    const broken = gzipSync(toNdjson(tokens(20_000))).subarray(0, 3_000);
    const cut = await run([file('cut.gz', broken)]);
    assert.equal(cut.code, 1);
    assert.match(cut.stderr, /cut\.gz: stopped .*unexpected end of file/);
    assert.equal(cut.stdout, '');
  });

  test('an interrupt ends the import before a later file is read', async () => {
    const stop = new AbortController();
    stop.abort();
    const { code, stderr } = await run([file('i.ndjson', toNdjson(tokens(3))), 'package.json'], {
      signal: stop.signal,
    });
    assert.equal(code, 1);
    assert.match(stderr, /^mercat: .*i\.ndjson: stopped before any row was stored: interrupted\n$/);
  });

  describe('wrong usage gives one line on standard error, before a connection is opened', () => {
    const cases: [string, () => string[], RegExp][] = [
      ['no file', () => [], /missing required argument 'files'/],
      ['a missing file', () => [path.join(dir, 'none')], /none cannot be read: ENOENT/],
      [
        'a missing file among existing ones',
        () => [file('ok.ndjson', ''), path.join(dir, 'none')],
        /none cannot be read/,
      ],
      ['a directory', () => [dir], /is a directory/],
      ['an unknown format', () => ['-', '--format', 'xml'], /--format must be one of ndjson, csv/],
      ['an unknown option', () => ['-', '--frmat', 'csv'], /unknown option '--frmat' \(Did you mean --format\?\)/],
      ['standard input twice', () => ['-', '-'], /standard input \(-\) can be given only once/],
      [
        'a file named .csv together with standard input, without --format',
        () => [file('c.csv', 'a'), '-'],
        /c\.csv has the name of a CSV file, and - has not: give --format/,
      ],
      [
        'a time without an offset',
        () => ['-', '--complete-until', '2026-06-01'],
        /--complete-until must be an ISO 8601 time/,
      ],
      ['CSV without a map', () => [file('c.csv', 'a')], /CSV needs --map, --set or --column/],
      ['--set without a value', () => ['-', '--format', 'csv', '--set', 'kind'], /--set takes FIELD=…, not kind/],
      [
        'an unknown field',
        () => ['-', ...CSV, '--column', 'nam=x'],
        /bad column map: nam: a token record has no such field/,
      ],
      [
        'a missing map',
        () => ['-', '--format', 'csv', '--map', 'none.json'],
        /the column map none\.json cannot be read/,
      ],
      [
        'a map that is not JSON',
        () => ['-', '--format', 'csv', '--map', file('m.json', '{')],
        /m\.json cannot be read/,
      ],
      [
        'a file of --refused that cannot be written',
        () => ['-', '--refused', path.join(dir, 'no/where')],
        /cannot be written/,
      ],
    ];
    for (const [name, args, reason] of cases) {
      test(`an import with wrong usage ends with exit code 2 and one line, before a connection is opened: ${name}`, async () => {
        mkdirSync(dir, { recursive: true });
        const { code, stdout, stderr } = await run(args());
        assert.deepEqual([code, stdout], [2, '']);
        assert.match(stderr, /^mercat: [^\n]+\n$/);
        assert.match(stderr, reason);
        assert.equal(connections, 0);
      });
    }
  });
});

forEachEngine('mercat import without a server', (engine) => {
  test('without a server the program imports, and exits with 1 if a row is refused', async () => {
    const settings = await engine.settings();
    const mercat = async (...args: string[]) => {
      const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...settings } });
      child.stdin.end();
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk) => (stdout += String(chunk)));
      child.stderr.on('data', (chunk) => (stderr += String(chunk)));
      const [code] = (await once(child, 'close')) as [number];
      return { code, stdout, stderr };
    };
    const valid = await mercat('import', file('p.ndjson', toNdjson(tokens(3))), '--json');
    const { inserted } = JSON.parse(valid.stdout) as { inserted: number };
    assert.deepEqual([valid.code, valid.stderr, inserted], [0, '', 3]);
    const withInvalid = await mercat('import', file('p.ndjson', toNdjson([...tokens(3), 'x'])));
    assert.equal(withInvalid.code, 1);
    assert.match(withInvalid.stdout, /0 inserted, 0 updated, 3 unchanged, 1 refused/);
    const missing = await mercat('import', 'no-such-file');
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
    // The import created no collection record for the tokens. So `status` and `doctor` name the collection.
    const status = await mercat('status', '--json');
    const { unrecordedCollections } = JSON.parse(status.stdout) as Record<string, unknown>;
    assert.deepEqual(unrecordedCollections, [`ethereum_${EVM}`]);
    const { stdout } = await mercat('doctor');
    assert.match(
      stdout,
      new RegExp(`^warn {2}collections: rows without .* not served: ethereum_${EVM}\n +-> import`, 'm'),
    );
  });

  test('after an interrupt the program reports exactly what was stored', async () => {
    const settings = await engine.settings();
    const child = spawn(process.execPath, [MAIN, 'import', '-'], { env: { ...process.env, ...settings } });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
      // The first batch has a refused row. The program reports it when the batch is stored.
      if (stderr.includes('stdin:2:') && !child.killed) child.kill('SIGINT');
    });
    const [first, ...others] = tokens(800);
    child.stdin.write(toNdjson([first, 'refused', ...others]));
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 130);
    assert.match(
      stderr,
      /mercat: stdin: stopped after 499 rows were stored: interrupted\nto take this back: mercat imports undo imp_\w+\n$/,
    );
  });
});
