// Completes the buyer and the seller of sales with the transfers of the sold tokens in the same transaction. Some fills do not name a
// party. Other fills name the router of an aggregator, which sends the token on to the buyer, or which has received the token from the seller.

import type { Transfer } from '../../market/chain-log/chain-event.ts';
import type { Address } from '../../platform/core/address.ts';
import { ZERO_ADDRESS } from '../../platform/core/evm.ts';
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
 * Follows the token from the seller back through earlier transfers, until the account that bought the token in the same transaction. The maker of a
 * listing is paid for the token, and is the seller, unless the account that signed the transaction has sent the token to it.
 */
function findFirstHolder(sale: FillSale, transfers: readonly Transfer[], sales: readonly FillSale[]): Address | null {
  const { seller, fill } = sale;
  if (seller === null) return seller;
  const backward = transfers.toReversed().map(({ from, to, quantity }) => ({ from: to, to: from, quantity }));
  const buyers = sales.flatMap((other) => (isOfSameToken(other, sale) ? (other.buyer ?? []) : []));
  const first = followToken(seller, backward, { sender: fill.sender, ends: new Set(buyers) });
  return seller === fill.offerer && first !== fill.sender ? seller : first;
}

/** Follows the token from the buyer through later transfers, until the account that sold the token in the same transaction. */
function findLastHolder(sale: FillSale, transfers: readonly Transfer[], sales: readonly FillSale[]): Address | null {
  const { buyer, fill } = sale;
  if (buyer === null) return null;
  const sellers = sales.flatMap((other) => (isOfSameToken(other, sale) ? (other.seller ?? []) : []));
  return followToken(buyer, transfers, { sender: fill.sender, ends: new Set(sellers) });
}

/** Whether the other sale has the token of `sale`, alone or among several tokens. */
function isOfSameToken(other: FillSale, { contract, asset }: FillSale): boolean {
  if (other.contract !== contract) return false;
  if (other.asset !== null || asset === null) return other.asset === asset;
  const { offer, consideration } = other.fill;
  return [...offer, ...consideration].some(({ token, identifier }) => token === contract && `${identifier}` === asset);
}

type Step = Pick<Transfer, 'from' | 'to' | 'quantity'>;

/**
 * Follows the token from `start` through the transfers, and returns the last holder. The search ends at the account that signed the
 * transaction (`sender`), at the accounts `ends`, and before a mint or a burn. If the signer is not known, the result is `start`.
 */
function followToken(
  start: Address,
  transfers: readonly Step[],
  { sender, ends }: { sender: Address | undefined; ends: ReadonlySet<Address> },
): Address {
  if (sender === undefined) return start;
  let holder = start;
  let at = transfers.findIndex(({ to }) => to === holder);
  while (at >= 0 && holder !== sender && !ends.has(holder)) {
    at = findNext(transfers, at);
    const to = transfers[at]?.to;
    if (to === undefined || to === ZERO_ADDRESS) break;
    holder = to;
  }
  return holder;
}

/**
 * The index of the transfer with which the receiver of transfer `at` passes the same units on; -1 if there is none. Units that arrived in several
 * transfers can leave in one, or the other way round: then the receiver has to pass on all of its units, to one account.
 */
function findNext(transfers: readonly Step[], at: number): number {
  const { to: holder, quantity } = transfers[at] ?? {};
  const isLater = ({ from }: Step, index: number) => index > at && from === holder;
  const same = transfers.findIndex((transfer, index) => isLater(transfer, index) && transfer.quantity === quantity);
  if (same >= 0) return same;
  const [received, sent] = [
    transfers.filter(({ to }) => to === holder),
    transfers.filter(({ from }) => from === holder),
  ];
  const passesAll = quantityOf(received) === quantityOf(sent) && new Set(sent.map(({ to }) => to)).size === 1;
  return passesAll ? transfers.findIndex(isLater) : -1;
}

function quantityOf(transfers: readonly Step[]): bigint {
  return transfers.reduce((sum, { quantity }) => sum + quantity, 0n);
}
