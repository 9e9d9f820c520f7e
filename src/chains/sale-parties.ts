// Completes the buyer and the seller of sales with the transfers of the sold tokens in the same transaction. Some fills do not name a
// party. Other fills name the router of an aggregator, which sends the token on to the buyer.

import type { Transfer } from '../chain-log/chain-event.ts';
import type { Address } from '../core/address.ts';
import { ZERO_ADDRESS } from '../core/evm.ts';
import type { FillSale } from './sales.ts';

/** Returns the sales with their parties. `transfers`: the transfers of the transaction of the sales, in block order. */
export function completeParties(sales: readonly FillSale[], transfers: readonly Transfer[]): FillSale[] {
  if (transfers.length === 0) return [...sales];
  const named = sales.map((sale) => withUnnamedParty(sale, transfersOf(sale, transfers)));
  return named.map((sale) => {
    const { buyer } = sale;
    return buyer === null
      ? sale
      : { ...sale, buyer: findLastHolder({ ...sale, buyer }, transfersOf(sale, transfers), named) };
  });
}

function transfersOf({ contract, asset }: FillSale, transfers: readonly Transfer[]): Transfer[] {
  return transfers.filter((transfer) => transfer.contract === contract && transfer.tokenId === asset);
}

/**
 * An unnamed buyer is the receiver of the first transfer from the seller. An unnamed seller is the sender of the first transfer to the
 * buyer.
 */
function withUnnamedParty(sale: FillSale, transfers: readonly Transfer[]): FillSale {
  const { seller, buyer } = sale;
  if (buyer === null && seller !== null) {
    return { ...sale, buyer: transfers.find(({ from }) => from === seller)?.to ?? null };
  }
  if (seller === null && buyer !== null) {
    return { ...sale, seller: transfers.find(({ to }) => to === buyer)?.from ?? null };
  }
  return sale;
}

/**
 * Follows the token from the buyer through later transfers, and returns its last holder. The search ends at the account that signed the
 * transaction, at an account that sold the token in the same transaction, and before a burn. If the fill does not name the signer, the
 * result is the buyer.
 */
function findLastHolder(
  { fill, contract, asset, buyer }: FillSale & { buyer: Address },
  transfers: readonly Transfer[],
  sales: readonly FillSale[],
): Address {
  const { sender } = fill;
  if (sender === undefined) return buyer;
  const sellers = new Set(
    sales.map((sale) => (sale.contract === contract && sale.asset === asset ? sale.seller : null)),
  );
  let holder = buyer;
  let at = transfers.findIndex(({ to }) => to === holder);
  while (at >= 0 && holder !== sender && !sellers.has(holder)) {
    const quantity = transfers[at]?.quantity;
    at = transfers.findIndex(
      (transfer, index) => index > at && transfer.from === holder && transfer.quantity === quantity,
    );
    const to = transfers[at]?.to;
    if (to === undefined || to === ZERO_ADDRESS) break;
    holder = to;
  }
  return holder;
}
