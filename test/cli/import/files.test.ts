// What `mercat import` sends to the intake for compressed files, encodings, JSON layouts and product exports. Also what it says
// about files that it cannot read. No database is used.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { createImport } from '../../../src/cli/import/import.ts';
import { createChains } from '../../../src/core/chains.ts';
import { ImportFailure } from '../../../src/intake/import.ts';
import { ImportCounter } from '../../../src/intake/import-summary.ts';
import { NOW } from '../../support/service/intake.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { disposable, runCommand } from '../run-command.ts';

let dir = '';
before(() => {
  dir = temporaryDirectory();
});

const file = (name: string, content: string | Uint8Array) => {
  const target = path.join(dir, name);
  writeFileSync(target, content);
  return target;
};

let received = '';
/** An intake that keeps the bytes that it receives. */
const intake = disposable({
  import: async (source) => {
    received = '';
    try {
      for await (const chunk of source) received += Buffer.from(chunk).toString('latin1');
    } catch (error) {
      throw new ImportFailure(new ImportCounter().summary(), error);
    }
    return new ImportCounter().summary();
  },
});
const define = createImport({
  connect: () => Promise.resolve(intake),
  chains: () => createChains(),
  clock: () => NOW,
});
const run = async (args: string[], stdin = '') => {
  const result = await runCommand(define, ['import', ...args], { stdin });
  return {
    ...result,
    received: Buffer.from(received, 'latin1').toString(),
    stderr: result.stderr.replaceAll(`${dir}/`, ''),
  };
};

/** A zip archive with deflated files. */
function zip(files: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const data = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), common, tail, Buffer.from(name)]),
    );
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, Buffer.from('PK\u0005\u0006'), end]);
}

const LINES = '{"kind":"token","name":"café"}\n{"kind":"token"}\n';

describe('compression and encoding', () => {
  for (const [name, content, note] of [
    ['gzip', gzipSync(LINES), ''],
    ['zstd', zstdCompressSync(LINES), ''],
    ['zip', () => zip({ 'dir/': '', 'dir/a.ndjson': LINES, '__MACOSX/a': 'x' }), ''],
    ['UTF-16LE with a byte-order mark', Buffer.from(`\u{feff}${LINES}`, 'utf16le'), 'f: is in UTF-16LE\n'],
    ['UTF-16LE', Buffer.from(LINES, 'utf16le'), 'f: is in UTF-16LE\n'],
    ['UTF-16BE', Buffer.from(LINES, 'utf16le').swap16(), 'f: is in UTF-16BE\n'],
    ['gzip of UTF-16', gzipSync(Buffer.from(LINES, 'utf16le')), 'f: is in UTF-16LE\n'],
  ] as const) {
    test(`a file in ${name} is read`, async () => {
      const {
        code,
        received: text,
        stderr,
      } = await run([file('f', typeof content === 'function' ? content() : content)]);
      assert.deepEqual([code, text, stderr], [0, LINES, note]);
    });
  }

  for (const [name, content, reason] of [
    ['bzip2', 'BZh91AY&SY', /^mercat: f is a bzip2 file; convert it: bzip2 -dc FILE \| mercat import -\n$/],
    ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), /xz -dc FILE/],
    ['tar', `${'a'.repeat(257)}ustar`, /tar -xf FILE/],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0]), /iconv -f UTF-32 -t UTF-8 FILE/],
    ['Parquet', 'PAR1', /duckdb -c/],
  ] as const) {
    test(`a file in ${name} is refused with the command that converts it`, async () => {
      const { code, stderr } = await run([file('f', content)]);
      assert.equal(code, 2);
      assert.match(stderr, reason);
    });
  }

  test('archives of several files, workbooks, damaged archives and UTF-16 that is cut off are refused', async () => {
    for (const [content, reason] of [
      [zip({ 'a.csv': 'a', 'b.csv': 'b' }), /is a zip archive of 2 files \(a\.csv, b\.csv\); unzip it/],
      [zip({ 'xl/workbook.xml': 'x' }), /is an Excel workbook; save its sheet as CSV in UTF-8/],
      [zip({ a: LINES }).subarray(0, 60), /is a zip archive that cannot be read/],
      [Buffer.from(LINES, 'utf16le').subarray(0, 15), /the file is not valid UTF-16LE/],
    ] as const) {
      const { code, stderr } = await run([file('f', content)]);
      assert.equal(code, 1);
      assert.match(stderr, reason);
    }
  });
});

describe('JSON', () => {
  const toLines = async (text: string) => (await run([file('f.json', text)])).received;

  test('one value on each line is passed on as it is, even if it is malformed', async () => {
    for (const text of [LINES, '{"a":1\n{"b":2}\n', '\n{"a":[1,\n{"b":2}\n', 'x\n', ''])
      assert.equal(await toLines(text), text);
  });

  test('each value of an array or of several lines becomes one line, at the line on which it begins', async () => {
    assert.equal(await toLines('[\n  {"a": 1},\n  {"b": 2}\n]\n'), '\n{"a": 1}\n{"b": 2}\n');
    assert.equal(await toLines('[{"a":1},{"b":2}]'), '{"a":1}\n{"b":2}\n');
    assert.equal(
      await toLines('{\n  "a": "x\\"\\n"\n}\n{\n  "b": []\n}\n'),
      '{   "a": "x\\"\\n" }\n\n\n{   "b": [] }\n',
    );
    assert.equal(await toLines('[]'), '');
  });

  test('a line break inside a text does not become valid', async () => {
    const [line = ''] = (await toLines('[{"a":"x\ny"}]')).split('\n');
    assert.throws(() => JSON.parse(line), /control character/i);
  });

  test('a missing comma or bracket ends the import with the line', async () => {
    const { code, stderr } = await run([file('f.json', '[{"a":1}\n{"b":2}]')]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /line 2: not JSON: a comma or a bracket is missing or misplaced; the rest of the file was not read/,
    );
  });
});

describe('a product export of Shopify', () => {
  test('each variant becomes a product with the images of all rows, at the line of its row', async () => {
    const header =
      'Handle,Title,Tags,Option1 Value,Variant Inventory Tracker,Variant Price,Image Src,Image Position,Variant Image,SEO Title';
    const rows = [
      'mug,Mug,"a, b",Red,shopify,19.90,i2,2,,x',
      'mug,,,Blue,,21.90,i1,1,i9,',
      'mug,,,,,,i3,3,,',
      'cup,Cup,,Default Title,,9.90,,,,',
    ];
    const { received: text, stderr } = await run([
      file('p.csv', [header, ...rows].join('\n')),
      '--format',
      'shopify-products',
      '--set',
      'shop=s',
    ]);
    const lines = text.split('\n').map((line) => (line === '' ? null : (JSON.parse(line) as unknown)));
    const of = (fields: object) => ({ kind: 'product', shop: 's', ...fields });
    assert.deepEqual(lines, [
      null,
      of({
        name: 'Mug – Red',
        slug: 'mug-red',
        price: '19.90',
        trackInventory: true,
        image: 'i1',
        moreImages: ['i2', 'i3'],
        collections: ['a', 'b'],
      }),
      of({
        name: 'Mug – Blue',
        slug: 'mug-blue',
        price: '21.90',
        trackInventory: false,
        image: 'i9',
        moreImages: ['i1', 'i2', 'i3'],
        collections: ['a', 'b'],
      }),
      null,
      of({ name: 'Cup', slug: 'cup', price: '9.90', trackInventory: false, moreImages: [], collections: [] }),
      null,
    ]);
    assert.match(
      stderr,
      /^p\.csv: rows: 4, products: 2, variants: 3, rows with images only: 1; .* columns SEO Title\n$/,
    );
  });

  test('a file of another kind, and unknown fields, are refused', async () => {
    const args = ['--format', 'shopify-products', '--set'];
    const other = await run([file('p.csv', 'a,b\n1,2\n'), ...args, 'shop=s']);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /not a product export of Shopify: it has no column "Handle"/);
    const fields = await run([file('p.csv', 'a'), ...args, 'name=s']);
    assert.equal(fields.code, 2);
    assert.match(fields.stderr, /takes --set shop=NAME/);
  });
});

describe('mercat import --explain', () => {
  const explain = async (name: string, content: string, ...args: string[]) => {
    const map = path.join(dir, `${name}.${Math.abs(content.length)}.map.json`);
    const result = await run(['--explain', file(name, content), '--map', map, ...args]);
    const fields =
      result.code === 0 && result.stdout.includes('The map is in')
        ? (JSON.parse(readFileSync(map, 'utf8')) as unknown)
        : null;
    return { ...result, fields };
  };
  const party = (digit: string) => `\\x${digit.repeat(40)}`;

  test('sales: a row number is not the token', async () => {
    const rows = Array.from(
      { length: 8 },
      (_, i) => `${i},2017-06-23 21:06:3${i},0.0${i + 1},${party('a')},${party('b')},${3134 * (i + 1)}`,
    );
    const csv = ['tx_id,date,price,from_address,to_address,punk_id', ...rows].join('\n');
    const { code, stdout, fields } = await explain('punks.csv', csv);
    assert.equal(code, 0);
    assert.deepEqual(fields, {
      kind: { value: 'sale' },
      source: { value: 'import' },
      chain: { value: 'ethereum' },
      contractAddress: { value: 'REPLACE by the contract address of the collection' },
      tokenId: 'punk_id',
      price: { column: 'price', as: 'native-amount' },
      seller: { column: 'from_address', as: 'bytea' },
      timestamp: { column: 'date', as: 'utc-time' },
      buyer: { column: 'to_address', as: 'bytea' },
    });
    assert.match(
      stdout,
      /sale of 3134 of 0x0{40} on ethereum for 0\.01 ETH \(10000000000000000 base units\), 2017-06-23 21:06:30 UTC/,
    );
    assert.match(stdout, /Of the first 8 rows, 8 can be stored\./);
    assert.match(stdout, /contractAddress: the file does not contain it/);
    assert.match(stdout, /Columns that are not used: tx_id/);
  });

  test('the id of a transaction, an order or a block is not the token', async () => {
    const { fields } = await explain('i.csv', 'tx_id,order_id,price,date,wolf_id\n9,8,0.5,2022-01-14,7\n');
    assert.equal((fields as Record<string, unknown>)['tokenId'], 'wolf_id');
  });

  test('a map with a value that was not replaced is refused', async () => {
    const csv = 'token_id,price,date\n1,0.5,2022-01-14\n';
    await explain('s.csv', csv);
    const { code, stderr } = await run([
      path.join(dir, 's.csv'),
      '--map',
      path.join(dir, `s.csv.${csv.length}.map.json`),
    ]);
    assert.equal(code, 2);
    assert.match(stderr, /contractAddress: replace the value by the contract address of the collection/);
  });

  test('base units, currencies, decimal commas, patterns of dates and numbers of units are recognised', async () => {
    const contract = `0x${'c'.repeat(40)}`;
    const csv = `contract_address;token_id;price;currency;date;quantity\n${contract};1;1.234,5;ETH;01/02/2022;1\n${contract};2;0,5;USDC;03/04/2022;2\n`;
    const { stdout, fields } = await explain('s.csv', csv);
    const { price, timestamp } = fields as Record<string, unknown>;
    assert.deepEqual(price, { column: 'price', currency: 'currency', as: ['decimal-comma', 'native-amount'] });
    assert.deepEqual(timestamp, { column: 'date', as: 'date:MM/DD/YYYY' });
    assert.match(stdout, /cells are separated by semicolons/);
    assert.match(
      stdout,
      /day and month cannot be told apart; read as date:MM\/DD\/YYYY, it could be date:DD\/MM\/YYYY/,
    );
    assert.match(stdout, /if the price is for one unit, add "times": "quantity"/);
    const base = await explain('b.csv', 'token_id,price,date\n1,6.27e+16,1650000000\n');
    assert.deepEqual((base.fields as Record<string, unknown>)['price'], { column: 'price', as: 'base-amount' });
  });

  test('JSON objects: nested members and other spellings are recognised', async () => {
    const contract = `ETHEREUM:0x${'c'.repeat(40)}`;
    const row = {
      source: 'OPEN_SEA',
      date: '2022-08-07T16:20:51Z',
      nft: { type: { contract, tokenId: '3624' } },
      price: '0.037',
      buyer: contract,
    };
    const { stdout, fields } = await explain('r.json', JSON.stringify([row]));
    const { chain, contractAddress, tokenId } = fields as Record<string, { column: string; pattern: string }>;
    assert.deepEqual(
      [tokenId, contractAddress?.pattern, chain?.pattern],
      ['nft.type.tokenId', '(0x[0-9a-fA-F]{40})$', '^(\\w+):'],
    );
    assert.match(stdout, /sale of 3624 of 0xc{40} on ethereum for 0\.037 ETH .* source opensea/);
  });

  test('collections, ranks and products are recognised', async () => {
    const collections = JSON.stringify([
      { name: 'Punks', slug: 'punks', logo: 'https://x/1', stats: { totalSupply: 9999, numOwners: 3 } },
    ]);
    assert.match(
      (await explain('c.json', collections)).stdout,
      /collection Punks \(ethereum_punks\), 9999 tokens, 3 owners/,
    );
    const ranks = await explain(
      'r.json',
      '[{"lootId":3043,"rarest":1}]',
      '--set',
      `contractAddress=0x${'c'.repeat(40)}`,
    );
    assert.match(ranks.stdout, /token 3043 of 0xc{40} on ethereum, rarity rank 1/);
    assert.doesNotMatch(ranks.stdout, /REPLACE/);
    assert.match(
      (await explain('p.csv', 'title,price,stock\nMug,19.90,3\n', '--set', 'shop=s')).stdout,
      /product Mug \(mug\) of the shop s, price 19\.90, stock 3/,
    );
  });

  test('files that need no map are named with the command', async () => {
    assert.match(
      (await explain('n.ndjson', LINES)).stdout,
      /records of the kind token .*\nImport:\n {2}mercat import /,
    );
    assert.match((await explain('d.json', '{"jsonrpc":"2.0","result":{}}')).stdout, /--format das-assets/);
    const mints = await explain('m.json', '["3kxh9JnBdktEyJDopKFnwzg3yaFQT1kbR8BoyvvPuAAy"]');
    assert.match(mints.stderr, /has no JSON objects. If the file is a list of plain values, make objects of them: jq/);
    const strange = await explain('x.csv', 'colour,size\nred,3\n');
    assert.match(strange.stderr, /no kind of record fits the columns of .*: "colour", "size"/);
    const again = await run(['--explain', path.join(dir, 's.csv'), '--map', file('taken.json', '{}')]);
    assert.match(again.stderr, /taken\.json exists already; name another file with --map/);
  });
});
