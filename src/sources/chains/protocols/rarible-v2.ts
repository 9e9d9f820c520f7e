// Rarible's ExchangeV2. https://github.com/rarible/protocol-contracts, exchange-v2/contracts/ExchangeV2Core.sol
// The amounts are those of the two orders. Fees that a side adds on top are in the call data only and not part of the price.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, bytesAt, hashAt, structAt, wordAt } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { unreadable, UnreadSale } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const RARIBLE_V2_TOPICS = {
  match: '0x268820db288a211986b26a8fda86b1e0046281b21206936bb0e61c67b5c79ef4',
  /** The first form, until 2022. It does not have the two assets. */
  matchWithoutAssets: '0x6bd3176da6f0aab285937ad5ead5f53b9036f403cfad62f77e4e0f80b5a7e18d',
} as const satisfies Record<string, Hex>;

/** The first four bytes of the hash of the class name. */
const CLASS = { native: 'aaaebeba', erc20: '8ae85d84', erc721: '73ad2146', erc1155: '973bb640' };
const TOKEN_CLASSES: readonly string[] = [CLASS.erc721, CLASS.erc1155];

type Asset = { className: string; data: Hex };

function assetAt(data: Hex, index: number): Asset {
  const struct = structAt(data, index);
  return { className: wordAt(struct, 0).slice(0, 8), data: bytesAt(struct, 1) };
}

/** Null for an asset that is not a currency. */
function currencyOf({ className, data }: Asset): Address | null {
  if (className === CLASS.native) return ZERO_ADDRESS;
  return className === CLASS.erc20 ? addressAt(data, 0) : null;
}

/**
 * The data of the event has the hashes, makers and filled amounts of the left and the right order, and the asset that each order offers. A
 * filled amount is what the order received. The left order was signed; the right order is that of the calling account. A match of two currencies
 * or of two tokens is no sale.
 */
const match: EventDecoder = ({ address, data }, position, events) => {
  const [left, right] = [assetAt(data, 6), assetAt(data, 7)];
  const isBid = currencyOf(left) !== null;
  if (isBid && currencyOf(right) !== null) return;
  const [sold, paid] = isBid ? [right, left] : [left, right];
  const currency = currencyOf(paid);
  if (currency === null && TOKEN_CLASSES.includes(sold.className) && TOKEN_CLASSES.includes(paid.className)) return;
  if (!TOKEN_CLASSES.includes(sold.className) || currency === null) throw new UnreadSale('an unknown kind of asset');
  const [leftMaker, rightMaker] = [addressAt(data, 2), addressAt(data, 3)];
  const [leftReceived, rightReceived] = [bigintAt(data, 4), bigintAt(data, 5)];
  const quantity = isBid ? leftReceived : rightReceived;
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: hashAt(data, 0),
      isBid,
      seller: isBid ? rightMaker : leftMaker,
      buyer: isBid ? leftMaker : rightMaker,
      tokens: [{ contract: addressAt(sold.data, 0), tokenId: bigintAt(sold.data, 1), quantity }],
      currency,
      price: isBid ? rightReceived : leftReceived,
    }),
  );
};

/** `Cancel` is not read: it does not name the account. */
export const RARIBLE_V2: SettlementProtocol = {
  name: 'rarible-v2',
  listContracts: deployedAt({
    ethereum: ['0x9757f2d2b135150bbeb65308d4a91804107cd8d6'],
    polygon: ['0x12b3897a36fdb436dde2788c06eff0ffd997066e'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [RARIBLE_V2_TOPICS.match, match],
    [RARIBLE_V2_TOPICS.matchWithoutAssets, unreadable('a match without its assets')],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'rarible',
};
