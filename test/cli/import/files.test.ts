// Tests what `mercat import` sends to the intake for compressed files, encodings, JSON layouts and product exports, and what it prints
// about files that it cannot read. No database is used.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { createCapturedImports } from './captured-imports.ts';

const { file, run } = createCapturedImports();

/** A zip archive with deflated files. */
function zip(files: Record<string, string | Uint8Array>): Buffer {
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
    test(`a file in ${name} is refused, and the message names the command that converts it`, async () => {
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
      [zip({ 'a.zip': zip({ a: LINES }) }), /has a zip archive inside an archive; unpack the outer archive first/],
      [gzipSync(zip({ a: LINES })), /has a zip archive inside an archive; unpack the outer archive first/],
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

  test('a file with one value on each line is passed on unchanged, even if a value is malformed', async () => {
    for (const text of [LINES, '{"a":1\n{"b":2}\n', '\n{"a":[1,\n{"b":2}\n', 'x\n', ''])
      assert.equal(await toLines(text), text);
  });

  test('each element of an array, and each value that has several lines, is sent as one line; empty lines keep the line numbers of the file', async () => {
    assert.equal(await toLines('[\n  {"a": 1},\n  {"b": 2}\n]\n'), '\n{"a": 1}\n{"b": 2}\n');
    assert.equal(await toLines('[{"a":1},{"b":2}]'), '{"a":1}\n{"b":2}\n');
    assert.equal(
      await toLines('{\n  "a": "x\\"\\n"\n}\n{\n  "b": []\n}\n'),
      '{   "a": "x\\"\\n" }\n\n\n{   "b": [] }\n',
    );
    assert.equal(await toLines('[]'), '');
  });

  test('a raw line break inside a JSON string stays invalid', async () => {
    const [line = ''] = (await toLines('[{"a":"x\ny"}]')).split('\n');
    assert.throws(() => JSON.parse(line), /control character/i);
  });

  test('the import continues if a comma is missing before an object that begins a line, and stops at any other missing comma', async () => {
    assert.equal(await toLines('[{"a":1}\n{"b":2}]'), '{"a":1}\n{"b":2}\n');
    const { code, stderr, received } = await run([file('f.json', '[{"a":1},\n3 {"b":2}]')]);
    assert.deepEqual([code, received], [1, '{"a":1}\n3\n']);
    assert.match(
      stderr,
      /line 2: not JSON: a comma or a bracket is missing or misplaced; the rest of the file was not read/,
    );
  });
});

describe('a product export of Shopify', () => {
  test('each variant is sent as a product with the images of all rows of its handle; empty lines keep the line numbers of the file', async () => {
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
        groupId: 'mug',
        options: [{ name: 'Option1', value: 'Red' }],
        trackInventory: true,
        image: 'i1',
        moreImages: ['i2', 'i3'],
        collections: ['a', 'b'],
        metadata: { 'SEO title': 'x' },
      }),
      of({
        name: 'Mug – Blue',
        slug: 'mug-blue',
        price: '21.90',
        groupId: 'mug',
        options: [{ name: 'Option1', value: 'Blue' }],
        trackInventory: false,
        image: 'i9',
        moreImages: ['i1', 'i2', 'i3'],
        collections: ['a', 'b'],
        metadata: { 'SEO title': 'x' },
      }),
      null,
      of({ name: 'Cup', slug: 'cup', price: '9.90', trackInventory: false, moreImages: [], collections: [] }),
      null,
    ]);
    assert.match(
      stderr,
      /^p\.csv: rows: 4, products: 2, variants: 3, rows with images only: 1; kept in the metadata: SEO title\n$/,
    );
  });

  const records = async (name: string, content: string) => {
    const args = [file(name, content), '--format', 'shopify-products', '--set', 'shop=s'];
    const { received: text, stderr } = await run(args);
    const parsed = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, any>]));
    return { parsed, stderr };
  };

  test('the columns of both generations of exports give the same records', async () => {
    const earlier =
      'Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,' +
      'Variant Inventory Qty,Variant Inventory Policy,Variant Price,Variant Compare At Price,Variant Requires Shipping,Variant Barcode,' +
      'Image Src,Image Position,Image Alt Text,Status';
    const present =
      'URL handle,Title,Description,Vendor,Type,Tags,Published on online store,Option1 name,Option1 value,SKU,Weight value (grams),' +
      'Inventory tracker,Inventory quantity,Continue selling when out of stock,Price,Compare-at price,Requires shipping,Barcode,' +
      'Product image URL,Image position,Image alt text,Status';
    const rows = [
      'mug,Mug,"<p>Two, lines\r\nand a ""quote""</p>",Acme,Cups,"a, b",TRUE,Size,M,S-1,300,shopify,4,deny,19.90,25.00,TRUE,\'0400,i1,1,alt,archived',
      ',,,,,,,,L,S-2,300,shopify,-2,deny,19.90,,TRUE,,i2,2,,',
      'cup,Cup,,,,,,Title,Default Title,,,,,,9.90,,FALSE,,,,,unlisted',
    ];
    const [a, b] = [
      await records('earlier.csv', `\ufeff${[earlier, ...rows].join('\r\n')}\r\n`),
      await records('present.csv', [present, ...rows].join('\n')),
    ];
    const withLineFeeds = (text: string) => text.replaceAll('\\r\\n', '\\n');
    assert.equal(withLineFeeds(JSON.stringify(a.parsed)), withLineFeeds(JSON.stringify(b.parsed)));
    const [medium, large, cup] = a.parsed;
    assert.deepEqual(
      [medium?.['sku'], medium?.['barcode'], medium?.['compareAtPrice'], medium?.['status'], medium?.['inventory']],
      ['S-1', '0400', '25.00', 'archived', 4],
    );
    assert.match(medium?.['description'], /^<p>Two, lines\r?\nand a "quote"<\/p>$/);
    assert.deepEqual(large?.['options'], [{ name: 'Size', value: 'L' }]);
    assert.deepEqual(
      [large?.['groupId'], large?.['inventory'], large?.['status'], large?.['metadata'].Vendor],
      ['mug', 0, 'archived', 'Acme'],
    );
    assert.deepEqual(
      [cup?.['groupId'], cup?.['options'], cup?.['metadata']],
      [undefined, undefined, { Status: 'unlisted' }],
    );
    for (const { stderr } of [a, b]) {
      assert.match(
        stderr,
        /products: 2, variants: 3, rows with images only: 0; stocks below 0 that are stored as 0: 1/,
      );
      assert.match(stderr, /a product has no place for the columns Image alt text\n$/);
    }
  });

  test('stocks of several locations are added, and columns of applications are kept, or named if they are too long', async () => {
    const header =
      'Handle,Title,Variant Price,Inventory Available: Shop,Inventory Available: Barn,Colour (product.metafields.x),Note';
    const { parsed, stderr } = await records(
      'l.csv',
      `${header}\na,A,1,3,4,red,${'n'.repeat(501)}\nb,B,1,not stocked,,,\n`,
    );
    assert.deepEqual(
      parsed.map(({ inventory, metadata }) => [inventory, metadata]),
      [
        [7, { 'Colour (product.metafields.x)': 'red' }],
        [undefined, undefined],
      ],
    );
    assert.match(
      stderr,
      /the stock is the sum of the locations Shop, Barn; kept in the metadata: Colour \(product.metafields.x\); /,
    );
    assert.match(stderr, /a product has no place for the columns Note\n$/);
  });

  test('variants and handles whose slugs would be the same get different slugs', async () => {
    const header = 'Handle,Title,Option1 Value,Variant Price';
    const { parsed } = await records('s.csv', `${header}\nmug,Mug,S/M,1\nmug,,S M,1\nmug-s-m,Other,Default Title,1\n`);
    assert.deepEqual(
      parsed.map(({ slug }) => slug),
      ['mug-s-m', 'mug-s-m-2', 'mug-s-m-3'],
    );
  });

  test('images and tags beyond what a product can have are counted, and a row without any handle is refused', async () => {
    const images = Array.from({ length: 23 }, (_, index) => `a,,,https://e/${index},${index + 1}`);
    const tags = Array.from({ length: 27 }, (_, index) => `t${index}`).join(', ');
    const rows = [',X,,,', `a,A,"${tags}",,`, ...images].join('\n');
    const { parsed, stderr } = await records(
      'm.csv',
      `Handle,Title,Tags,Image Src,Image Position,Variant Price\n${rows.replaceAll(/$/gm, ',')}\n`.replace(
        '"a,A',
        'a,A',
      ),
    );
    assert.equal(parsed[0]?.['moreImages'].length, 20);
    assert.equal(parsed[0]?.['collections'].length, 25);
    assert.match(stderr, /which are not stored: 4/);
    assert.match(stderr, /has no handle, and no row before it has one/);
  });

  test('a file that is not a product export is refused, and so is a field of --set other than shop', async () => {
    const args = ['--format', 'shopify-products', '--set'];
    const other = await run([file('p.csv', 'a,b\n1,2\n'), ...args, 'shop=s']);
    assert.equal(other.code, 1);
    assert.match(other.stderr, /not a product export of Shopify: it has no column "URL handle" or "Handle"/);
    const fields = await run([file('p.csv', 'a'), ...args, 'name=s']);
    assert.equal(fields.code, 2);
    assert.match(fields.stderr, /takes --set shop=NAME/);
  });
});
