// Tests `mercat import` of files with recorded responses of vendors. Each response is a page. A rejected row is reported with the number of
// the page and its number in the page. Rows that are left out are counted. Missing and invalid fields of --set are reported before a
// connection is opened.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, beforeEach, describe, test } from 'node:test';
import Fastify from 'fastify';
import { VENDORS } from '../../../src/sources/upstreams/registry.ts';
import { createImport, defineImport } from '../../../src/cli/import/import.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { LOCAL_ACCESS } from '../../../src/intake/http/access.ts';
import { registerRecordRoutes } from '../../../src/intake/http/records.ts';
import { IntakeErrorSchema } from '../../../src/intake/http/schemas.ts';
import { SocketIntake } from '../../../src/intake/socket-client.ts';
import { disposable, runCommand } from '../run-command.ts';
import type { Options } from './response-imports.ts';
import {
  AT,
  CONTRACT,
  atLanterns,
  createResponseImports,
  lanterns,
  envelope,
  lines,
  range,
  set,
  world,
} from './response-imports.ts';
import { emptyTables, toContext } from '../../support/service/intake.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { assetOf } from '../../support/replay/das.ts';
import { addressOf, LANTERNS, LANTERNS_SYMBOL, listingRow, saleRow } from '../../support/replay/magic-eden.ts';

forOneEngine('unstored rows of recorded responses', (engine) => {
  let db: Database;
  let dir: string;
  let run: ReturnType<typeof createResponseImports>['run'];
  let load: ReturnType<typeof createResponseImports>['load'];
  before(async () => {
    db = await engine.open();
    dir = temporaryDirectory();
    ({ run, load } = createResponseImports(db));
  });
  beforeEach(() => emptyTables(db));

  test('the summary of a dry run counts the rows that are left out', async () => {
    const rows = range(5, (index) => saleRow(index, 1_770_000_000, index === 0 ? { type: 'bid' } : {}));
    const dry = await run('magic-eden-activities', JSON.stringify(rows), { args: [...lanterns, '--dry-run'] });
    assert.match(
      dry.stdout,
      /^dry run: 4 records .*: 4 inserted, 0 updated, 0 unchanged, 0 refused, in .* s\nrows in the responses: 5, pages: 1, rows left out: 1 \(1 no sale\)\nwarning: 4 records have no collection record: [^\n]+\n$/,
    );
    assert.deepEqual(await db.query('select count(*)::int as count from indexer.sale'), [{ count: 0 }]);
  });

  describe('rejected rows are reported with page and row', () => {
    const importAndReadRefused = async (content: string, options: Options & { format?: string } = {}) => {
      const { format = 'magic-eden-listings', args = atLanterns, ...connection } = options;
      const file = path.join(dir, 'refused.ndjson');
      const loaded = await load(format, content, { args: [...args, '--refused', file], ...connection });
      const refused = readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      return { ...loaded, refused };
    };
    /**
     * A listing row from which a listing and a token are made. The image URL of the token is too long, so the intake rejects the token. The
     * intake knows only the line of the token, not the page and row.
     */
    const withLongImage = (number: number) => {
      const row = listingRow(number);
      return { ...row, token: { ...row['token'], image: 'x'.repeat(200_000) } };
    };

    test('a row is reported with page and row, whether the mapper or the intake rejects it', async () => {
      const firstPage = JSON.stringify([listingRow(1), { tokenMint: 3 }, listingRow(2)]);
      const pages = `[${firstPage},{"errors":["no"]},[{"x":}],${JSON.stringify([withLongImage(3)])}]`;
      const rows = `[${JSON.stringify(listingRow(4))},{"x":},${JSON.stringify(withLongImage(5))}]`;
      const { code, summary, refused } = await importAndReadRefused(`${pages}\n${rows}\n\u{0}\n`);
      assert.equal(code, 1);
      const reasons = new Map(
        refused.map(({ page, row, reason }) => [`${String(page)}.${String(row)}`, String(reason)]),
      );
      assert.deepEqual([...reasons.keys()].toSorted(), [
        '1.2',
        '2.undefined',
        '3.undefined',
        '4.1',
        '5.2',
        '5.3',
        '6.undefined',
      ]);
      assert.equal(reasons.get('1.2'), 'tokenMint: must be a string, not a number');
      assert.equal(reasons.get('2.undefined'), 'not a response of this format');
      assert.match(reasons.get('3.undefined') ?? '', /^not JSON: /);
      assert.match(reasons.get('4.1') ?? '', /^image: has 200000 characters/);
      assert.match(reasons.get('5.2') ?? '', /^not JSON: /);
      assert.match(reasons.get('5.3') ?? '', /^image: has 200000 characters/);
      assert.match(reasons.get('6.undefined') ?? '', /^not JSON: /);
      // Five rows or pages are rejected before they reach the intake. The other five rows are listings with a token each. The intake
      // rejects two of these tokens.
      assert.deepEqual([summary.read, summary.inserted, summary.refused], [15, 8, 7]);
    });

    test('a row that a running server rejects is reported with page and row', async (t) => {
      const app = Fastify({ logger: false, forceCloseConnections: true });
      t.after(() => app.close());
      app.addSchema(IntakeErrorSchema);
      app.setValidatorCompiler(() => () => true);
      registerRecordRoutes(app, toContext(db), LOCAL_ACCESS);
      const socketPath = path.join(temporaryDirectory(), 'intake.sock');
      await app.listen({ path: socketPath });
      // Each row makes one line. The intake receives batches of 500 lines, and the rejected lines include the first and the last line of a
      // batch.
      const invalid = new Set([0, 7, 8, 499, 500, 777, 999, 1_000, 1_199]);
      const pages = range(12, (page) =>
        range(100, (row) => {
          const index = page * 100 + row;
          const links = { image: 'x'.repeat(invalid.has(index) ? 200_000 : 10) };
          return assetOf(addressOf('mt', index), addressOf('co', 1), { content: { links } });
        }),
      );
      const { code, summary, refused } = await importAndReadRefused(lines(pages.map(envelope)), {
        format: 'das-assets',
        args: [],
        connect: () => Promise.resolve(disposable(new SocketIntake(socketPath))),
      });
      assert.equal(code, 1);
      assert.deepEqual([summary.read, summary.inserted, summary.refused], [1_200, 1_191, 9]);
      assert.deepEqual(
        refused.map(({ page, row }) => [page, row]),
        [...invalid].map((index) => [Math.floor(index / 100) + 1, (index % 100) + 1]),
      );
    });

    test('the import of a file that was cut off fails, and the error names the line of the incomplete response', async () => {
      const text = lines([[listingRow(1)], [listingRow(2)]]);
      const { code, summary, stderr } = await importAndReadRefused(text.slice(0, -30));
      assert.equal(code, 1);
      assert.match(stderr, /the file ends within the response that begins on line 2: look there [^\n]+\n/);
      assert.match(summary.error ?? '', /: stopped after 2 rows were stored: the file ends within/);
      assert.deepEqual([summary.read, summary.inserted], [2, 2]);
    });

    test('a recorded response that is an error is reported with the error message of the upstream', async () => {
      const error = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'Asset \u001bNot Found' } };
      const noAsset = { jsonrpc: '2.0', id: '1' };
      const { code, stderr } = await load('das-assets', lines([error, envelope({ items: [] }), 7, noAsset]));
      assert.equal(code, 1);
      assert.equal(
        stderr,
        'file: page 1: the response is an error: Asset \\u001bNot Found\nfile: page 3: not a response of this format\nfile: page 4: not a response of this format\n',
      );
    });
  });
});

describe('missing or invalid fields of --set are reported before a connection is opened', () => {
  const cases: [string, Record<string, string>, RegExp][] = [
    [
      'opensea-listings',
      {},
      /^--format opensea-listings needs --set chain=CHAIN and --set contractAddress=ADDRESS; see/,
    ],
    ['opensea-events', { chain: 'base' }, /^--format opensea-events needs --set contractAddress=ADDRESS; see/],
    ['opensea-nfts', { contractAddress: CONTRACT }, /^--format opensea-nfts needs --set chain=CHAIN; see/],
    [
      'opensea-nfts',
      { contractAddress: CONTRACT, chain: 'solana' },
      /^--set chain: must be one of ethereum, .*, not solana/,
    ],
    [
      'opensea-nfts',
      { contractAddress: CONTRACT, chain: 'mars' },
      /^--set chain: must be one of ethereum, .*, not mars/,
    ],
    ['opensea-nfts', { contractAddress: 'x', chain: 'base' }, /^--set contractAddress: must be an EVM address, not x/],
    [
      'opensea-nfts',
      { contractAddress: CONTRACT, chain: 'base', slug: 'x' },
      /^--set slug: --format opensea-nfts takes chain, contractAddress/,
    ],
    ['magic-eden-asks', { contractAddress: CONTRACT, chain: 'ink' }, /^--set chain: Magic Eden has no asks on ink/],
    [
      'magic-eden-activities',
      { contractAddress: LANTERNS },
      /needs --set symbol=SYMBOL \(the name that Magic Eden has/,
    ],
    [
      'magic-eden-listings',
      { contractAddress: LANTERNS, symbol: LANTERNS_SYMBOL },
      /needs --set at=TIME \(when the responses were recorded/,
    ],
    [
      'magic-eden-listings',
      { contractAddress: LANTERNS, symbol: 'x', at: 'yesterday' },
      /^--set at: must be an ISO 8601 time/,
    ],
    [
      'magic-eden-listings',
      { contractAddress: LANTERNS, symbol: 'x', at: '2999-01-01T00:00:00Z' },
      /^--set at: .* is in the future/,
    ],
    [
      'magic-eden-listings',
      { contractAddress: CONTRACT, symbol: 'x', at: AT },
      /^--set contractAddress: must be a base58 address/,
    ],
    ['das-assets', { chain: 'base' }, /^--set chain: must be one of solana, not base/],
  ];
  const define = createImport({ connect: () => assert.fail('connected'), ...world });
  const assertUsageError = async (args: string[], reason: RegExp) => {
    const { code, stdout, stderr } = await runCommand(define, ['import', '-', ...args]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr.replace(/^mercat: /, ''), reason);
  };
  for (const [format, fields, reason] of cases) {
    test(`an import of ${format} with ${JSON.stringify(fields)} ends with exit code 2 and the reason, before a connection is opened`, () =>
      assertUsageError(['--format', format, ...set(fields)], reason));
  }
  test('columns are not accepted for recorded responses', () =>
    assertUsageError(
      ['--format', 'das-assets', '--column', 'mint=x'],
      /--map and --column are for CSV and JSON; recorded responses take --set/,
    ));
  test('the help and docs/records.md name each format of recorded responses', async () => {
    const text = readFileSync(new URL('../../../docs/records.md', import.meta.url), 'utf8');
    const help = await runCommand(defineImport, ['import', '--help']);
    for (const { name: format } of VENDORS.flatMap(({ formats }) => formats)) {
      assert.ok(help.stdout.includes(format), format);
      assert.ok(text.includes(`--format ${format}`), format);
    }
  });
});
