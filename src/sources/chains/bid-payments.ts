// Some protocols omit the price from the event that accepts a bid. For the fill of such a bid, this file reads the payment from the earlier
// event in the chain log that placed the bid.

import type { OrderFulfilled } from '../../market/chain-log/chain-event.ts';
import { findLastBid } from '../../market/chain-log/queries/chain-events.ts';
import { toTokenId } from '../../platform/core/address.ts';
import { ZERO_ADDRESS } from '../../platform/core/evm.ts';
import { ITEM_TYPE } from '../../platform/core/seaport.ts';
import type { Queryable } from '../../platform/database/port.ts';

/** Returns the fills with their payments. The payment of a fill whose bid is not in the log remains unknown. */
export async function readBidPayments(
  main: Queryable,
  chain: string,
  fills: readonly OrderFulfilled[],
): Promise<OrderFulfilled[]> {
  const read: OrderFulfilled[] = [];
  for (const fill of fills) read.push(isPaymentUnknown(fill) ? await readPayment(main, chain, fill) : fill);
  return read;
}

/**
 * Whether the payment of a fill is unknown. The currency of such a fill is the contract of the protocol (protocols/market-fill.ts), and the
 * amount is 0.
 */
function isPaymentUnknown({ protocol, offer }: OrderFulfilled): boolean {
  return offer.some(
    ({ itemType, token, amount }) => itemType === ITEM_TYPE.erc20 && token === protocol && amount === 0n,
  );
}

async function readPayment(main: Queryable, chain: string, fill: OrderFulfilled): Promise<OrderFulfilled> {
  const { protocol, offerer: bidder, consideration } = fill;
  const [token] = consideration;
  if (!token) return fill;
  const bid = await findLastBid(main, chain, { protocol, tokenId: toTokenId(token.identifier), bidder, before: fill });
  if (!bid) return fill;
  const payment = { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n, amount: bid.price };
  return { ...fill, offer: [payment] };
}
