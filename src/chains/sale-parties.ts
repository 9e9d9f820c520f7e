// Completes the buyer and the seller of sales with the transfers of the sold tokens in the same transaction. Some fills do not name a
// party. Other fills name the router of an aggregator, which sends the token on to the buyer, or which has received the token from the seller.

import type { Transfer } from '../chain-log/chain-event.ts';
import type { Address } from '../core/address.ts';
import { ZERO_ADDRESS } from '../core/evm.ts';
import type { FillSale } from './sales.ts';

/** Returns the sales with their parties. `transfers`: the transfers of the transaction of the sales, in block order. */
export function completeParties(sales: readonly FillSale[], transfers: readonly Transfer[]): FillSale[] {
  if (transfers.length === 0) return [...sales];
  const named = sales.map((sale) => withUnnamedParty(sale, transfersOf(sale, transfers)));
  const sold = named.map((sale) => ({ ...sale, seller: findFirstHolder(sale, transfersOf(sale, transfers), named) }));
  return sold.map((sale) => ({ ...sale, buyer: findLastHolder(sale, transfersOf(sale, transfers), sold) }));
}

function transfersOf({ contract, asset }: FillSale, transfers: readonly Transfer[]): Transfer[] {
  return transfers.filter((transfer) => transfer.contract === contract && transfer.tokenId === asset);
}

/**
 * An unnamed buyer is the receiver of the first transfer from the seller. An unnamed seller is the sender of the first transfer to the
 * buyer. The contract of the protocol, which held the token, and the zero address, which minted it, are no sellers.
 */
function withUnnamedParty(sale: FillSale, transfers: readonly Transfer[]): FillSale {
  const { seller, buyer } = sale;
  if (buyer === null && seller !== null) {
    return { ...sale, buyer: transfers.find(({ from }) => from === seller)?.to ?? null };
  }
  if (seller === null && buyer !== null) {
    const sender = transfers.find(({ to }) => to === buyer)?.from ?? null;
    return { ...sale, seller: sender === sale.fill.protocol || sender === ZERO_ADDRESS ? null : sender };
  }
  return sale;
}

/**
 * Returns the seller if the seller made the listing, because the maker of a listing is paid for the token. Otherwise follows the token from the
 * seller back through earlier transfers, until the account that bought the token in the same transaction.
 */
function findFirstHolder(sale: FillSale, transfers: readonly Transfer[], sales: readonly FillSale[]): Address | null {
  const { seller, fill } = sale;
  if (seller === null || seller === fill.offerer) return seller;
  const backward = transfers.toReversed().map(({ from, to, quantity }) => ({ from: to, to: from, quantity }));
  const buyers = sales.flatMap((other) => (isOfSameToken(other, sale) ? (other.buyer ?? []) : []));
  return followToken(seller, backward, { sender: fill.sender, ends: new Set(buyers) });
}

/** Follows the token from the buyer through later transfers, until the account that sold the token in the same transaction. */
function findLastHolder(sale: FillSale, transfers: readonly Transfer[], sales: readonly FillSale[]): Address | null {
  const { buyer, fill } = sale;
  if (buyer === null) return null;
  const sellers = sales.flatMap((other) => (isOfSameToken(other, sale) ? (other.seller ?? []) : []));
  return followToken(buyer, transfers, { sender: fill.sender, ends: new Set(sellers) });
}

function isOfSameToken(sale: FillSale, { contract, asset }: FillSale): boolean {
  return sale.contract === contract && sale.asset === asset;
}

/**
 * Follows the token from `start` through the transfers, and returns the last holder. The search ends at the account that signed the
 * transaction (`sender`), at the accounts `ends`, and before a mint or a burn. If the signer is not known, the result is `start`.
 */
function followToken(
  start: Address,
  transfers: readonly Pick<Transfer, 'from' | 'to' | 'quantity'>[],
  { sender, ends }: { sender: Address | undefined; ends: ReadonlySet<Address> },
): Address {
  if (sender === undefined) return start;
  let holder = start;
  let at = transfers.findIndex(({ to }) => to === holder);
  while (at >= 0 && holder !== sender && !ends.has(holder)) {
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
