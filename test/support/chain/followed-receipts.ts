// A service that follows collections on a chain of given transactions (receipts-endpoint.ts), until all their sales are served.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { listLogEntries } from '../../../src/market/chain-log/queries/chain-events.ts';
import { findProjectedPosition } from '../../../src/sources/chains/queries/projection.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import type { TestMarket } from '../service/market.ts';
import { forOneMarket, START } from '../service/market.ts';
import { until } from '../until.ts';
import type { ReceiptsOptions, ReceiptTransaction } from './receipts-endpoint.ts';
import { startReceipts } from './receipts-endpoint.ts';

/** Only ends a test that hangs: a busy machine takes minutes. */
const LIMIT_MS = 900_000;

export type FollowedReceipts = ReceiptsOptions & {
  chain?: string;
  blocks: readonly (readonly ReceiptTransaction[])[];
  /** The followed contracts. `added`: followed by the operation `collections.add`, which reads from the chain what the contract is. */
  contracts: ReadonlyMap<string, 'erc721' | 'erc1155' | 'added'>;
};

/** A sale of /v1. */
export type ServedSale = {
  tx: string;
  tokenId: string;
  price: { raw: string };
  seller: string | null;
  buyer: string | null;
  marketplace: string;
};

async function isProjectedTo(market: TestMarket, chain: string): Promise<boolean> {
  const { seq } = await findProjectedPosition(market.indexer(), chain);
  return (await listLogEntries(market.main(), chain, { after: seq, limit: 1 })).length === 0;
}

/** Declares `suite`. `sales` returns what /v1 serves of a contract. */
export function forFollowedReceipts(
  name: string,
  { chain = 'ethereum', blocks, contracts, ...options }: FollowedReceipts,
  suite: (market: TestMarket, sales: (contract: string) => Promise<ServedSale[]>) => void,
): void {
  const closers: (() => void)[] = [];
  const prepare = async (settings: Record<string, string>) => {
    const closing = { after: (close: () => void) => void closers.push(close) };
    settings[`RPC_URL_${chain.toUpperCase()}`] = await startReceipts(closing, blocks, options);
    settings['METADATA_HOURLY_BUDGET'] = '0';
    settings['CHAIN_POLL_MS'] = '200';
  };
  forOneMarket(name, { prepare }, (market) => {
    before(async () => {
      for (const [address, standard] of contracts) {
        if (standard !== 'added') continue;
        const { status, body } = await market.operate('collections.add', { chain, address, fromBlock: 0 });
        assert.equal(status, 200, JSON.stringify(body));
      }
      const known = [...contracts].flatMap(([contract, standard]) =>
        standard === 'added' ? [] : [{ contractAddress: contract as Address, standard }],
      );
      await market.load(
        known.map(({ contractAddress }) => ({
          kind: 'collection',
          chain,
          contractAddress,
          name: contractAddress,
          slug: `c-${contractAddress}`,
        })),
      );
      for (const follow of known) {
        await upsertFollow(market.main(), {
          ...follow,
          collectionId: `${chain}_${follow.contractAddress}`,
          chain,
          fromBlock: 0,
          names: new Map(),
          createdAt: START,
        });
      }
      const areRead = async () => {
        const { body } = await market.operate('collections.list', {});
        return body.result.every(({ state }: { state: string }) => state === 'live');
      };
      await until(areRead, LIMIT_MS, 'the collections did not catch up with their chain');
      const isProjected = async () => {
        const [chainStatus] = (await market.operate('status', {})).body.result.chains;
        return chainStatus?.block === blocks.length && (await isProjectedTo(market, chain));
      };
      await until(isProjected, LIMIT_MS, 'the events of the chain did not reach the index');
    });
    after(() => {
      for (const close of closers.splice(0)) close();
    });
    suite(market, (contract) => market.walk(`/v1/collections/${chain}_${contract}/sales?limit=100`));
  });
}
