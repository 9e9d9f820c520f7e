// Serves the receipts of every protocol through /v1, on each engine, and compares the sales, volumes and numbers of sales with those of the independent
// decoder.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatEther } from 'viem';
import { forFollowedReceipts } from '../support/chain/followed-receipts.ts';
import { until } from '../support/until.ts';
import { START } from '../support/service/market.ts';
import { compareSales } from './comparison.ts';
import type { Sale } from './decoder.ts';
import { decodeReceipts } from './decoder.ts';
import { ENCODED_CHAIN } from './receipts/all.ts';

const { blocks, codes, contracts } = ENCODED_CHAIN;
const { sales } = decodeReceipts(blocks.flat(), { codes });

/** Whether the sale is a row of /sales: of one token, for a price in native currency. */
const isRow = ({ tokenId, price }: Sale) => tokenId !== null && /^\d+$/.test(price);
const rows = sales.filter(isRow);
/** A row of /sales has no quantity. */
const withoutUnits = (sale: Sale): Sale => ({ ...sale, units: '' });

/** The blocks are of the last minutes, so that the figures are known up to now. */
const startsAtS = Math.floor(START / 1_000) - 12 * blocks.length;
const COVERED_MS = 300_000;

forFollowedReceipts('receipts of every protocol', { ...ENCODED_CHAIN, startsAtS }, (market, readSales) => {
  test('every sale that the independent decoder finds is served with its facts, and no other', async () => {
    const served: Sale[] = [];
    for (const contract of contracts.keys()) {
      for (const { tx, tokenId, price, seller, buyer, marketplace } of await readSales(contract)) {
        served.push({ tx, contract, tokenId, units: '', price: price.raw, seller, buyer, marketplace });
      }
    }
    assert.deepEqual(compareSales(rows.map(withoutUnits), served), { missing: [], extra: [] });
  });

  test('the volume and the number of sales of each collection follow from the sales of the independent decoder', async () => {
    const statsOf = async (contract: string) =>
      (await market.get(`/v1/collections/ethereum_${contract}`)).body.data.stats;
    const counted = [...contracts.keys()].map((contract) => {
      const isCounted = ({ contract: of, seller, buyer, price }: Sale) =>
        of === contract && seller !== buyer && price !== 'unknown';
      const ofContract = sales.filter(isCounted);
      // The price of tokens of several contracts cannot be divided, so that the volume is not known.
      const isUnread = ofContract.some(({ price }) => price === 'undivided');
      const wei = ofContract.reduce((sum, { price }) => (/^\d+$/.test(price) ? sum + BigInt(price) : sum), 0n);
      return { contract, volume: isUnread ? null : Number(formatEther(wei)), sales: ofContract.length };
    });
    // The collections of a chain are covered in one transaction.
    const [first = ''] = contracts.keys();
    const isCovered = async () => (await statsOf(first)).sales.allTime !== null;
    await until(isCovered, COVERED_MS, 'the number of sales of a followed collection is not known');
    const served: typeof counted = [];
    for (const { contract } of counted) {
      const { volume, sales: count } = await statsOf(contract);
      served.push({ contract, volume: volume.allTime, sales: count.allTime });
    }
    assert.deepEqual(served, counted);
  });
});
