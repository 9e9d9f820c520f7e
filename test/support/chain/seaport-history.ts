// A short history on a local chain with the real Seaport contracts. Its few blocks contain each kind of event that the service
// reads. All tests of code that reads chains share this history.

import { ZERO_HASH } from '../../../src/platform/core/evm.ts';
import type { Address as HexAddress } from 'viem';
import { readContract } from '../../../devnet/artifacts.ts';
import { callOf, deploy, readHeight, startChain, transact } from '../../../devnet/chain.ts';
import type { LocalChain } from '../../../devnet/chain.ts';
import { buildAsk, buildMirror, signOrder, toOrder, totalOf } from '../../../devnet/orders.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { installProtocol } from '../../../devnet/protocol.ts';
import type { Contract, Protocol } from '../../../devnet/protocol.ts';
import { createChains, parseExtraChain } from '../../../src/platform/core/chains.ts';
import type { Chain } from '../../../src/platform/core/chains.ts';
import { SEAPORT } from '../../../src/sources/chains/protocols/seaport.ts';
import type { EventFilter } from '../../../src/sources/chains/rpc/log-query.ts';
import type { Address } from '../../../src/platform/core/address.ts';

export type SeaportHistory = {
  local: LocalChain;
  chain: Chain;
  protocol: Protocol;
  collection: Contract;
  editions: Contract;
  /** In lower case, which is the service's canonical form. */
  addresses: Record<'seaport' | 'collection' | 'editions' | 'wrapped' | 'seller' | 'buyer', Address>;
  /** Selects the events of Seaport and of both collections. */
  filter: EventFilter;
  sold: SignedOrder;
  cancelled: SignedOrder;
  /** The first and the last block of the history. The contracts are deployed before block `from`. */
  from: number;
  to: number;
  close(): Promise<void>;
};

const CHAIN_ID = 31_337;
const WRAPPED = 5n;
const HISTORY_MS = 3_600_000;
const BLOCK_MS = 3_000;

export async function startSeaportHistory(): Promise<SeaportHistory> {
  const chain = createChains(parseExtraChain(`localnet:evm:ETH:18:${CHAIN_ID}`)).get('localnet');
  if (!chain) throw new Error('no chain');
  // Each block has a different time, so that a test notices if one block is mistaken for another.
  let now = Date.now() - HISTORY_MS;
  const clock = () => (now += BLOCK_MS);
  const local = await startChain({ id: 'localnet', chainId: CHAIN_ID, accounts: 4, clock });
  try {
    return await createHistory(local, chain);
  } catch (error) {
    await local.stop();
    throw error;
  }
}

async function createHistory(local: LocalChain, chain: Chain): Promise<SeaportHistory> {
  const protocol = await installProtocol(local);
  const [, seller, buyer, royalty] = local.accounts;
  if (!seller || !buyer || !royalty) throw new Error('too few accounts');
  const args = ['Moons', 'MOON', 'ipfs://moons/', royalty.address, 500];
  const collection = await toContract(local, 'DevnetCollection', args);
  const editions = await toContract(local, 'DevnetEditions', [
    'Moon prints',
    'ipfs://prints/{id}',
    royalty.address,
    500,
  ]);
  const from = (await readHeight(local)) + 1;
  const { seaport, wrapped } = protocol;
  const call = (who: { address: HexAddress }, to: Contract, name: string, args: unknown[] = [], value = 0n) =>
    callOf(who.address, to, name, args, value);
  const sign = async (tokenId: bigint, salt: bigint) =>
    signOrder(
      seller,
      CHAIN_ID,
      buildAsk({
        offerer: seller.address,
        tokens: [{ contract: collection.address, standard: 'erc721', tokenId, units: 1n }],
        price: 10n ** 18n,
        currency: null,
        shares: [{ to: royalty.address, bps: 500 }],
        conduitKey: ZERO_HASH,
        startTime: 0,
        endTime: 4_000_000_000,
        salt,
        counter: 0n,
      }),
    );
  const [sold, cancelled, matched] = [await sign(1n, 1n), await sign(2n, 2n), await sign(3n, 3n)];

  await transact(local, [call(seller, collection, 'mintBatch', [seller.address, 1n, 5n])]);
  await transact(local, [
    call(seller, editions, 'mint', [seller.address, 7n, 10n]),
    call(seller, editions, 'mintBatch', [seller.address, [8n, 2n ** 200n], [3n, 4n]]),
  ]);
  await transact(local, [
    call(seller, collection, 'setApprovalForAll', [seaport.address, true]),
    call(seller, collection, 'approve', [buyer.address, 5n]),
    call(seller, collection, 'approve', [`0x${'0'.repeat(40)}`, 5n]),
  ]);
  await transact(local, [call(buyer, seaport, 'fulfillOrder', [toOrder(sold), ZERO_HASH], totalOf(sold.components))]);
  await transact(local, [call(seller, seaport, 'validate', [[toOrder(cancelled)]])]);
  await transact(local, [call(seller, seaport, 'cancel', [[cancelled.components]])]);
  // The buyer's order pays in native currency, which `matchOrders` takes from the value of the call.
  const mirror = buildMirror(matched.components, { offerer: buyer.address, salt: 9n, counter: 0n });
  const orders = [toOrder(matched), toOrder({ components: mirror, signature: '0x' })];
  const side = (orderIndex: number, itemIndex: number) => ({
    orderIndex: BigInt(orderIndex),
    itemIndex: BigInt(itemIndex),
  });
  const fulfillments = [
    { offerComponents: [side(0, 0)], considerationComponents: [side(1, 0)] },
    { offerComponents: [side(1, 0)], considerationComponents: [side(0, 0)] },
    { offerComponents: [side(1, 0)], considerationComponents: [side(0, 1)] },
  ];
  const price = totalOf(matched.components);
  await transact(local, [call(buyer, seaport, 'matchOrders', [orders, fulfillments], price)]);
  await transact(local, [call(seller, seaport, 'incrementCounter')]);
  await transact(local, [
    call(buyer, wrapped, 'deposit', [], WRAPPED),
    call(buyer, wrapped, 'transfer', [seller.address, WRAPPED]),
  ]);
  await transact(local, [call(buyer, collection, 'burn', [1n])]);
  const lower = (contract: { address: string }) => contract.address.toLowerCase() as Address;
  return {
    local,
    chain,
    protocol,
    collection,
    editions,
    addresses: {
      seaport: lower(seaport),
      collection: lower(collection),
      editions: lower(editions),
      wrapped: lower(wrapped),
      seller: lower(seller),
      buyer: lower(buyer),
    },
    filter: { protocols: new Map([[lower(seaport), SEAPORT]]), contracts: [lower(collection), lower(editions)] },
    sold,
    cancelled,
    from,
    to: await readHeight(local),
    close: () => local.stop(),
  };
}

async function toContract(
  local: LocalChain,
  name: 'DevnetCollection' | 'DevnetEditions',
  args: readonly unknown[],
): Promise<Contract> {
  const artifact = readContract(name);
  return { address: await deploy(local, artifact, args), abi: artifact.abi };
}
