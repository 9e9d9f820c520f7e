// Changes the receipts in ways that must not change their sales: the trader uses an aggregator, and one transaction makes the sales of several protocols.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareSales } from './comparison.ts';
import type { Sale } from './decoder.ts';
import { decodeReceipts } from './decoder.ts';
import { listMoves, tokenStandards } from './receipt-facts.ts';
import { ENCODED_CHAIN, SCENARIOS } from './receipts/all.ts';
import type { Scenario } from './receipts/scenario.ts';
import { account, AGGREGATOR, BUYER, hashOf, moved, movedUnits, SELLER, tagOf } from './receipts/scenario.ts';
import { readByService } from './service-reader.ts';

const NOTHING = { missing: [], extra: [] };
const { codes } = ENCODED_CHAIN;
const DOMAINS = ['opensea.io', 'gem.xyz', 'magiceden.io', 'rarible.com'];

/** Replaces an account in the logs, in the call data and in the sales. */
function replaceAccount(scenario: Scenario, from: string, to: string): Scenario {
  const text = JSON.stringify(scenario, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  return JSON.parse(text.replaceAll(from.slice(2), to.slice(2))) as Scenario;
}

const uses = ({ receipt }: Scenario, one: string) => JSON.stringify(receipt.logs).includes(one.slice(2));
const pass = (standard: 'erc721' | 'erc1155', contract: string, from: string, to: string, id: bigint, units: bigint) =>
  standard === 'erc721' ? moved(contract, from, to, id) : movedUnits(contract, from, to, id, units);

/** The scenario, but an aggregator trades for the account: it sells or buys the tokens, and passes them on. */
function throughAggregator(scenario: Scenario, trader: string): Scenario {
  const name = `${scenario.name}, through an aggregator for ${trader}`;
  const inner = replaceAccount(scenario, trader, AGGREGATOR);
  const standards = tokenStandards([inner.receipt]);
  const passed = listMoves(inner.receipt).filter(({ from, to }) => (trader === BUYER ? to : from) === AGGREGATOR);
  const logs = passed.map(({ contract, id, units }) => {
    const [from, to] = trader === BUYER ? [AGGREGATOR, BUYER] : [SELLER, AGGREGATOR];
    return pass(standards.get(contract) ?? 'erc721', contract, from, to, id, units);
  });
  const hash = hashOf(`${scenario.protocol}: ${name}`);
  const receipt = {
    ...inner.receipt,
    hash,
    from: trader,
    logs: trader === BUYER ? [...inner.receipt.logs, ...logs] : [...logs, ...inner.receipt.logs],
  };
  return { ...scenario, name, receipt, sales: scenario.sales.map((sale) => ({ ...sale, tx: hash })) };
}

/** Scenarios that an aggregator cannot make for the trader, or whose tokens it could not pass on with the usual events. */
const NOT_THROUGH_AGGREGATOR: ReadonlySet<string> = new Set([
  'a buyer that sends the token to a vault in the same transaction',
  'an account that buys its own listing',
  'a locked token that is bought for a new loan',
  'a listing that a loan buys',
  'a listing of the first exchange that a loan buys',
  'a bid that a borrower accepts',
  'a listing and a bid of the first token contract',
  'a listing and a bid of the markets',
]);

/** A sale of several tokens has the parties of its event. */
const isOfOne = ({ tokenId }: Sale) => tokenId !== null;

async function compare(t: { after(close: () => void): void }, scenarios: readonly Scenario[]): Promise<void> {
  const receipts = scenarios.map(({ receipt }) => receipt);
  const contracts = [...tokenStandards(receipts).keys()];
  const decoded = decodeReceipts(receipts, { codes, knowsBids: false });
  const read = await readByService(t, { ...ENCODED_CHAIN, blocks: [receipts], contracts });
  const happened = scenarios.flatMap(({ sales }) => sales).filter(isOfOne);
  assert.deepEqual(
    {
      decoder: compareSales(happened, decoded.sales.filter(isOfOne)),
      service: compareSales(happened, read.sales.filter(isOfOne)),
    },
    { decoder: NOTHING, service: NOTHING },
  );
}

test('a sale through an aggregator has the parties of the sale without it', async (t) => {
  const isAlone = (scenario: Scenario) =>
    scenario.sales.length > 0 &&
    scenario.protocol !== 'cryptopunks' &&
    !uses(scenario, AGGREGATOR) &&
    !NOT_THROUGH_AGGREGATOR.has(scenario.name);
  const bought = SCENARIOS.filter((scenario) => isAlone(scenario) && scenario.receipt.from === BUYER);
  const sold = SCENARIOS.filter((scenario) => isAlone(scenario) && scenario.receipt.from === SELLER);
  assert.ok(bought.length > 50 && sold.length > 15, `${bought.length} and ${sold.length}`);
  await compare(t, [
    ...bought.map((scenario) => throughAggregator(scenario, BUYER)),
    ...sold.map((scenario) => throughAggregator(scenario, SELLER)),
  ]);
});

test('the sales of several protocols in one transaction are those of the transactions of each', async (t) => {
  // The mark of a marketplace at the end of the call data, and the payment of a transaction, are for all of its sales.
  const isOfTransaction = ({ receipt, name }: Scenario) =>
    DOMAINS.some((domain) => receipt.input.endsWith(tagOf(domain))) || name.includes('that the logs do not show');
  const purchases = SCENARIOS.filter(
    (scenario) => scenario.receipt.from === BUYER && scenario.sales.length > 0 && !isOfTransaction(scenario),
  );
  const byProtocol = [...Map.groupBy(purchases, ({ protocol }) => protocol).values()];
  const sweeps = [0, 1, 2, 3].map((index) => byProtocol.flatMap((scenarios) => scenarios[index] ?? []));
  await compare(
    t,
    sweeps.map((scenarios, index): Scenario => {
      const hash = hashOf(`sweep ${index}`);
      const ofOwnSellers = scenarios.map((scenario) =>
        replaceAccount(scenario, SELLER, account(`seller ${scenario.protocol}`)),
      );
      const receipts = ofOwnSellers.map(({ receipt }) => receipt);
      const receipt = {
        hash,
        from: BUYER,
        to: AGGREGATOR,
        input: `0x${receipts.map(({ input }) => input.slice(2)).join('')}00000000`,
        value: receipts.reduce((sum, { value = '0' }) => sum + BigInt(value), 0n).toString(),
        logs: receipts.flatMap(({ logs }) => logs),
      };
      return {
        protocol: '',
        name: hash,
        receipt,
        sales: ofOwnSellers.flatMap(({ sales }) => sales.map((sale) => ({ ...sale, tx: hash }))),
      };
    }),
  );
});
