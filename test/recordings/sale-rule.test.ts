// The figures of the collections of a recorded file of sales agree with their own `/sales`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import { needsRecordings, readRecording } from '../support/recordings/recordings.ts';
import { runImport, toContext } from '../support/service/intake.ts';
import { forOneMarket } from '../support/service/market.ts';

const FILE = 'sales/seaport-2022.csv';
const ZERO = /^0x0*$/;
const NATIVE = new Set(['ETH', 'WETH']);

type Line = {
  contract: string;
  tx: string;
  token: string;
  currency: string;
  seller: string;
  buyer: string;
  price: bigint | null;
};

/** The distinct sales of the file. The expectations are computed from these cells. */
function readLines(): Line[] {
  const [header = '', ...rows] = readRecording(FILE).trim().split(/\r?\n/);
  const columns = header.split(',');
  const lines = rows.map((row): Line => {
    const cells = row.split(',');
    const cellOf = (name: string) => cells[columns.indexOf(name)] ?? '';
    const [digits = '', exponent = '0'] = cellOf('price_amount').split('e+');
    const [whole = '', fraction = ''] = digits.split('.');
    const shift = Number(exponent) - fraction.replace(/0+$/, '').length;
    return {
      contract: cellOf('contract_address'),
      tx: cellOf('transaction_hash'),
      token: cellOf('token_id'),
      currency: cellOf('price_token'),
      seller: cellOf('seller_address'),
      buyer: cellOf('buyer_address'),
      price: shift < 0 ? null : BigInt(whole + fraction.replace(/0+$/, '')) * 10n ** BigInt(shift),
    };
  });
  return [...new Map(lines.map((line) => [`${line.tx} ${line.contract} ${line.token}`, line])).values()];
}

const MAP = parseColumnMap({
  kind: { value: 'sale' },
  source: 'marketplace',
  chain: { value: 'ethereum' },
  contractAddress: 'contract_address',
  tokenId: 'token_id',
  price: { column: 'price_amount', as: 'base-amount', currency: 'price_token' },
  seller: 'seller_address',
  buyer: 'buyer_address',
  tx: 'transaction_hash',
  timestamp: { value: '2022-12-31T00:00:00Z' },
});

forOneMarket('figures of a recorded file of sales', {}, (market) => {
  test(
    'volume and number of sales of each of the 341 collections agree with its `/sales`',
    needsRecordings(FILE),
    async () => {
      const lines = readLines();
      const byContract = Map.groupBy(lines, ({ contract }) => contract);
      assert.equal(byContract.size, 341);
      const records = [...byContract.keys()].map((contractAddress) => ({
        kind: 'collection',
        chain: 'ethereum',
        contractAddress,
        name: contractAddress,
      }));
      await market.load(records);
      const context = toContext(market.main(), { indexer: market.indexer(), clock: market.now });
      const { refused } = await runImport(context, readRecording(FILE), { format: 'csv', map: MAP });
      assert.deepEqual(refused, []);
      let [unread, unnamed] = [0, 0];
      for (const [contract, sold] of byContract) {
        const { volume, sales } = (await market.ok(`/v1/collections/ethereum_${contract}`)).data.stats;
        const rows = await market.walk(`/v1/collections/ethereum_${contract}/sales?limit=100`);
        const isSelf = (line: { seller: string | null; buyer: string | null }) =>
          line.seller !== null && line.seller === line.buyer && !ZERO.test(line.seller);
        const traded = sold.filter((line) => !isSelf(line) && line.price !== 0n);
        const native = sold.filter(({ currency, price }) => NATIVE.has(currency) && price !== null);
        const isUnread = traded.some(({ currency, price }) => currency === '' || price === null);
        assert.equal(rows.length, native.length, contract);
        assert.equal(sales.allTime, traded.length, contract);
        const summed = rows.filter((row) => !isSelf(row)).reduce((sum, { price }) => sum + BigInt(price.raw), 0n);
        assert.equal(
          summed,
          traded.filter(({ currency }) => NATIVE.has(currency)).reduce((sum, { price }) => sum + (price ?? 0n), 0n),
          contract,
        );
        assert.equal(volume.allTime, isUnread ? null : toNative(summed), contract);
        assert.ok(
          rows.every(({ seller, buyer }) => ![seller, buyer].some((party) => party !== null && ZERO.test(party))),
          contract,
        );
        unread += isUnread ? 1 : 0;
        unnamed += rows.filter(({ seller }) => seller === null).length;
      }
      assert.deepEqual([unread > 0, unnamed > 0], [true, true], 'the file has no sales of these kinds');
    },
  );
});

/** The nearest double of an amount in ether. */
function toNative(raw: bigint): number {
  return Number(`${raw / 10n ** 18n}.${(raw % 10n ** 18n).toString().padStart(18, '0')}`);
}
