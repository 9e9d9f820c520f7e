// Decodes the sales of Sudoswap pools, versions 1 and 2. A pool buys and sells tokens at the price of a curve. An event of version 1
// (https://github.com/sudoswap/lssvm) has no fields. The transfers of the transaction show the tokens and the accounts, and no log shows
// the price. An event of version 2 (https://github.com/sudoswap/lssvm2) has the amount of the payment, and the ids of ERC-721 tokens or
// the number of units.

import type { Transfer } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { arrayAt, bigintAt } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import type { SoldToken } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { PoolEvents, Swap, SwapDecoder } from './pool-events.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

/** `In`: the pool buys tokens. `Out`: the pool sells tokens. */
export const SUDOSWAP_V1_TOPICS = {
  swapIn: '0x3614eb567740a0ee3897c0e2b11ad6a5720d2e4438f9c8accf6c95c24af3a470',
  swapOut: '0xbc479dfc6cb9c1a9d880f987ee4b30fa43dd7f06aec121db685b67d587c93c93',
} as const satisfies Record<string, Hex>;

export const SUDOSWAP_V2_TOPICS = {
  swapERC721In: '0x7a0e7e58d91fd23a96b0008604db1b2d1cee4aae434e3aad9a20fdd7c0995f89',
  swapERC1155In: '0x58e7e2e8d4c949c019e4fe5f6e2a8f10e4e078a8747730386e9a230da8c969f0',
  swapERC721Out: '0xa13c46268c53408442d94eb370f2e476cb7f0fbe027ae5bad73ce13d4469c8b9',
  swapERC1155Out: '0xd9c2402e1a067734ae78dab98f06d5b28e8a2d2c6370ec0e6ff8cc2749d050f1',
} as const satisfies Record<string, Hex>;

/** The logs do not show the payment. The fill marks it as unknown: the currency is the address of the factory, and the price is 0. */
function firstVersion(isBid: boolean): SwapDecoder {
  return (position, swap) => {
    const moved = isBid ? lastReceived(swap) : swap.moved.filter(({ from }) => from === swap.log.address);
    const tokens = moved.map(({ contract, tokenId }) => ({ contract, tokenId: BigInt(tokenId), quantity: 1n }));
    return toSale(position, { swap, isBid, moved, tokens, payment: { currency: swap.pool.factory, price: 0n } });
  };
}

/**
 * Returns the transfers at the end of `moved` that have the same receiver as the last transfer and follow each other without a gap. A pool
 * takes all tokens of a swap one directly after the other, for itself or for an account that its owner has named.
 */
function lastReceived({ log, moved }: Swap): readonly Transfer[] {
  const receiver = moved.at(-1)?.to;
  return moved.slice(moved.findLastIndex(({ from, to }) => to !== receiver || from === log.address) + 1);
}

/**
 * If a pool sells, the amount in the event includes all fees and royalties that the buyer paid. If a pool buys, the amount is what the
 * seller receives.
 */
function secondVersion(isBid: boolean, tokensOf: (swap: Swap) => SoldToken[]): SwapDecoder {
  return (position, swap) => {
    const tokens = tokensOf(swap);
    const sold = new Set(tokens.map(({ tokenId }) => tokenId.toString()));
    const moved = swap.moved.filter(({ tokenId, from }) => sold.has(tokenId) && (from === swap.log.address) !== isBid);
    const payment = { currency: swap.pool.currency, price: bigintAt(swap.log.data, 0) };
    return toSale(position, { swap, isBid, moved, tokens, payment });
  };
}

function tokensInList({ log: { data }, pool: { contract } }: Swap): SoldToken[] {
  const { start, length } = arrayAt(data, 1, 1);
  return Array.from({ length }, (_, index) => ({ contract, tokenId: bigintAt(data, start + index), quantity: 1n }));
}

function unitsOfToken({ log: { data }, pool: { contract, tokenId } }: Swap): SoldToken[] {
  return tokenId === null ? [] : [{ contract, tokenId, quantity: bigintAt(data, 1) }];
}

type SwapSale = {
  swap: Swap;
  isBid: boolean;
  moved: readonly Transfer[];
  tokens: readonly SoldToken[];
  payment: { currency: Address; price: bigint };
};

/** If the token reaches the pool through a router, the last transfer names the router. `completeParties` then finds the seller. */
function toSale(
  position: Parameters<SwapDecoder>[0],
  { swap, isBid, moved, tokens, payment }: SwapSale,
): ReturnType<SwapDecoder> {
  const last = moved.at(-1);
  if (!last || tokens.length === 0) return null;
  const parties = isBid ? { seller: last.from, buyer: last.to } : { seller: swap.log.address, buyer: last.to };
  return toFill(position, { protocol: swap.pool.factory, orderHash: null, isBid, ...parties, tokens, ...payment });
}

const V1_POOLS: PoolEvents = {
  decoders: new Map<Hex, SwapDecoder>([
    [SUDOSWAP_V1_TOPICS.swapIn, firstVersion(true)],
    [SUDOSWAP_V1_TOPICS.swapOut, firstVersion(false)],
  ]),
  templates: [
    { getter: 'enumerableETHTemplate()', bytes: 61, tokenIdAt: null, currencyAt: null },
    { getter: 'missingEnumerableETHTemplate()', bytes: 61, tokenIdAt: null, currencyAt: null },
    { getter: 'enumerableERC20Template()', bytes: 81, tokenIdAt: null, currencyAt: 61 },
    { getter: 'missingEnumerableERC20Template()', bytes: 81, tokenIdAt: null, currencyAt: 61 },
  ],
};

const V2_POOLS: PoolEvents = {
  decoders: new Map<Hex, SwapDecoder>([
    [SUDOSWAP_V2_TOPICS.swapERC721In, secondVersion(true, tokensInList)],
    [SUDOSWAP_V2_TOPICS.swapERC1155In, secondVersion(true, unitsOfToken)],
    [SUDOSWAP_V2_TOPICS.swapERC721Out, secondVersion(false, tokensInList)],
    [SUDOSWAP_V2_TOPICS.swapERC1155Out, secondVersion(false, unitsOfToken)],
  ]),
  templates: [
    { getter: 'erc721ETHTemplate()', bytes: 81, tokenIdAt: null, currencyAt: null },
    { getter: 'erc721ERC20Template()', bytes: 101, tokenIdAt: null, currencyAt: 81 },
    { getter: 'erc1155ETHTemplate()', bytes: 93, tokenIdAt: 61, currencyAt: null },
    { getter: 'erc1155ERC20Template()', bytes: 113, tokenIdAt: 61, currencyAt: 93 },
  ],
};

const NO_EVENTS = new Map<Hex, EventDecoder>();

/** The listed contracts are the factories of the pools. The events of the factories themselves are not read. */
export const SUDOSWAP_V1: SettlementProtocol = {
  name: 'sudoswap-v1',
  listContracts: deployedAt({ ethereum: ['0xb16c1342e617a5b6e4b631eb114483fdb289c0a4'] }),
  decoders: NO_EVENTS,
  pools: V1_POOLS,
  settlesOwnOrders: false,
  findMarketplace: () => 'sudoswap',
};

export const SUDOSWAP_V2: SettlementProtocol = {
  name: 'sudoswap-v2',
  listContracts: deployedAt({
    ethereum: ['0xa020d57ab0448ef74115c112d18a9c231cc86000'],
    base: ['0x605145d263482684590f630e9e581b21e4938eb8'],
  }),
  decoders: NO_EVENTS,
  pools: V2_POOLS,
  settlesOwnOrders: false,
  findMarketplace: () => 'sudoswap',
};
