// The NFT orders of the 0x protocol, version 4. https://github.com/0xProject/protocol, features/nft_orders/
// The events report what the maker receives or pays. The buyer of a listing also pays fees, which no event reports.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { findMarketplaceByTag } from '../../../market/orders/seaport/deployments.ts';
import { addressAt, bigintAt, smallIntegerAt } from './abi-words.ts';
import { nonceCancelled } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const ZEROEX_V4_TOPICS = {
  erc721OrderFilled: '0x50273fa02273cceea9cf085b42de5c8af60624140168bd71357db833535877af',
  erc1155OrderFilled: '0x20cca81b0e269b265b3229d6b537da91ef475ca0ef55caed7dd30731700ba98d',
  erc721OrderCancelled: '0xa015ad2dc32f266993958a0fd9884c746b971b254206f3478bc43e2f125c7b9e',
  erc1155OrderCancelled: '0x4d5ea7da64f50a4a329921b8d2cab52dff4ebcc58b61d10ff839e28e91445684',
} as const satisfies Record<string, Hex>;

const BUY = 1;
/** How the protocol and the exchanges made from it write the native currency. */
export const ZEROEX_NATIVE = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee' as Address;

/**
 * The words of the event are direction, maker, taker, nonce, currency, amount, contract, token id, for ERC-1155 the quantity, and the account
 * that matched two orders. Two orders that were matched with each other are reported as two fills. Each of these fills gets the zero address as
 * its taker. `sources/chains/sales.ts` takes this as the mark of a matched order, and makes one sale of the two fills.
 */
function filled(hasQuantity: boolean): EventDecoder {
  return ({ address, data }, position, events) => {
    const isBid = smallIntegerAt(data, 0) === BUY;
    const [maker, taker] = [addressAt(data, 1), addressAt(data, 2)];
    const currency = addressAt(data, 4);
    const isMatched = addressAt(data, hasQuantity ? 9 : 8) !== ZERO_ADDRESS;
    const other = isMatched ? ZERO_ADDRESS : taker;
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: null,
        isBid,
        seller: isBid ? other : maker,
        buyer: isBid ? maker : other,
        tokens: [
          {
            contract: addressAt(data, 6),
            tokenId: bigintAt(data, 7),
            quantity: hasQuantity ? bigintAt(data, 8) : 1n,
          },
        ],
        currency: currency === ZEROEX_NATIVE ? ZERO_ADDRESS : currency,
        price: bigintAt(data, 5),
      }),
    );
  };
}

export const ZEROEX_V4: SettlementProtocol = {
  name: 'zeroex-v4',
  listContracts: deployedAt({
    ethereum: ['0xdef1c0ded9bec7f1a1670819833240f027b25eff'],
    polygon: ['0xdef1c0ded9bec7f1a1670819833240f027b25eff'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [ZEROEX_V4_TOPICS.erc721OrderFilled, filled(false)],
    [ZEROEX_V4_TOPICS.erc1155OrderFilled, filled(true)],
    [ZEROEX_V4_TOPICS.erc721OrderCancelled, nonceCancelled],
    [ZEROEX_V4_TOPICS.erc1155OrderCancelled, nonceCancelled],
  ]),
  settlesOwnOrders: false,
  findMarketplace: ({ domain }) => (domain === undefined ? null : findMarketplaceByTag(domain)),
};
