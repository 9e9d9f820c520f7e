// `mercat import --explain` guesses which kind of record a file has and what its columns mean, and writes a column map. No database is used.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createCapturedImports } from './captured-imports.ts';
import { FOREIGN_SALES } from './foreign-sales.ts';
import { ORDERS } from './guide-files.ts';

const { dir, file, run } = createCapturedImports();

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

  test('sales: a column of row numbers is not taken for the token id', async () => {
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

  test('the id of a transaction, an order or a block is not taken for the token id', async () => {
    const { fields } = await explain('i.csv', 'tx_id,order_id,price,date,wolf_id\n9,8,0.5,2022-01-14,7\n');
    assert.equal((fields as Record<string, unknown>)['tokenId'], 'wolf_id');
  });

  test('a map with a placeholder that was not replaced is refused', async () => {
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

  test('base units, currencies, decimal commas, date patterns and quantities are recognised', async () => {
    const contract = `0x${'c'.repeat(40)}`;
    const csv = `contract_address;token_id;price;currency;date;quantity\n${contract};1;1.234,5;ETH;01/02/2022;1\n${contract};2;0,5;USDC;03/04/2022;2\n`;
    const { stdout, fields } = await explain('s.csv', csv);
    const { price, timestamp } = fields as Record<string, unknown>;
    assert.deepEqual(price, { column: 'price', currency: 'currency', as: ['decimal-comma', 'native-amount'] });
    assert.deepEqual(timestamp, { column: 'date', as: 'date:MM/DD/YYYY' });
    assert.match(stdout, /cells are separated by semicolons/);
    assert.match(
      stdout,
      /day and month cannot be told apart; the column is read as date:MM\/DD\/YYYY, but date:DD\/MM\/YYYY is possible too/,
    );
    assert.match(stdout, /if the price is for one token, add "times": "quantity"/);
    const base = await explain('b.csv', 'token_id,price,date\n1,6.27e+16,1650000000\n');
    assert.deepEqual((base.fields as Record<string, unknown>)['price'], { column: 'price', as: 'base-amount' });
  });

  test('JSON objects: nested members and other spellings of chains and marketplaces are recognised', async () => {
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

  test('the price of a listing is the price that its marketplace states, not what the seller receives', async () => {
    const { stdout, fields } = await explain('orders.json', ORDERS);
    const { priceRaw, buyerTotalRaw } = fields as Record<string, { column: string }>;
    assert.deepEqual([priceRaw?.column, buyerTotalRaw], ['price.amount.raw', undefined]);
    assert.match(stdout, /for 0\.7 ETH \(700000000000000000 base units\)/);
  });

  const OTHER_AMOUNTS = [
    'net_price',
    'PRICE_NET',
    'price.netAmount.raw',
    'net.amount',
    'seller_proceeds_eth',
    'seller.earnings.eth',
    'royalty_price',
    'royalties.amount',
    'Creator Fee ETH',
    'fees.value',
    'gas_price',
    'floor_price',
  ];
  for (const name of OTHER_AMOUNTS) {
    test(`the column ${name} is not taken for the price of a listing or sale`, async () => {
      const wolf = `7,0x${'a'.repeat(40)},2030-01-01,2022-01-14`;
      const explainPrice = async (column: string, kind: string) => {
        const header = `${name},${column},token_id,seller,expires_at,date`;
        const { fields } = await explain(
          `${name}.${kind}.csv`,
          `${header}\n0.45,0.5,${wolf}\n`,
          '--set',
          `kind=${kind}`,
        );
        const { price, priceRaw } = fields as Record<string, { column: string }>;
        return (price ?? priceRaw)?.column;
      };
      assert.equal(await explainPrice('price_in_eth', 'listing'), 'price_in_eth');
      assert.equal(await explainPrice('value', 'sale'), 'value');
      const alone = `${name},token_id,seller,expires_at,date\n0.45,${wolf}\n`;
      const { stdout, fields } = await explain(`${name}.csv`, alone);
      assert.deepEqual((fields as Record<string, unknown>)['kind'], { value: 'token' });
      assert.match(stdout, /price: the column ".*" does not have the price that the marketplace states/);
    });
  }

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
    const traited = await explain('t.csv', 'token_id,attributes\n7,Hat: Cap; Eyes: Blue\n8,Hat: Fez\n');
    assert.match(traited.stdout, /token 7 of .*, traits Hat: Cap, Eyes: Blue/);
    assert.match(
      (await explain('p.csv', 'title,price,stock\nMug,19.90,3\n', '--set', 'shop=s')).stdout,
      /product Mug \(mug\) of the shop s, price 19\.90, stock 3/,
    );
  });

  test('a shell reads the printed command as intended, whatever characters the names of files have', async () => {
    const name = `a 'b' "c" $(d) \\ ; *.ndjson`;
    const ready = await run(['--explain', file(name, '{"kind":"token"}\n'), '--json']);
    assert.deepEqual(shellWords(JSON.parse(ready.stdout).command), ['mercat', 'import', path.join(dir, name)]);
  });

  test('a file that needs no map gets an import command, and a file that cannot be explained gets a reason', async () => {
    assert.match(
      (await explain('n.ndjson', '{"kind":"token"}\n')).stdout,
      /records of the kind token .*\nImport:\n {2}mercat import /,
    );
    assert.match((await explain('d.json', '{"jsonrpc":"2.0","result":{}}')).stdout, /--format das-assets/);
    const mints = await explain('m.json', '["3kxh9JnBdktEyJDopKFnwzg3yaFQT1kbR8BoyvvPuAAy"]');
    assert.match(
      mints.stderr,
      /has no JSON objects. If the file is a list of plain values, make an object of each value: jq/,
    );
    const strange = await explain('x.csv', 'colour,size\nred,3\n');
    assert.match(strange.stderr, /no kind of record fits the columns of .*: "colour", "size"/);
    const again = await run(['--explain', path.join(dir, 's.csv'), '--map', file('taken.json', '{}')]);
    assert.match(again.stderr, /taken\.json exists already; name another file with --map/);
  });
});

describe('a file of sales is imported after at most one edit of the map', () => {
  for (const { title, header, rows, edit, sale, notes } of FOREIGN_SALES) {
    test(title, async () => {
      const csv = file(`${title}.csv`, `${[header, ...rows].join('\n')}\n`);
      const map = `${csv}.map.json`;
      const set = Object.entries(edit).flatMap(([field, value]) => ['--set', `${field}=${value}`]);
      assert.ok(set.length <= 2);
      const explained = await run(['--explain', csv, '--map', map, '--json', ...set]);
      assert.equal(explained.code, 0, explained.stderr);
      const { kind, accepted, records, notes: printed, command } = JSON.parse(explained.stdout);
      assert.deepEqual([kind, accepted, records[0]], ['sale', rows.length - (notes.refused ?? 0), sale]);
      assert.match(printed.join('\n'), notes.matching ?? /^/);
      assert.deepEqual(shellWords(command), ['mercat', 'import', csv, '--map', map, '--dry-run']);
      assert.equal((await run([csv, '--map', map])).code, 0);
    });
  }
});

/** The words of a command line, as a POSIX shell reads them. */
function shellWords(command: string): string[] {
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}
