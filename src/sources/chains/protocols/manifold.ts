// Manifold's marketplace. The addresses are in https://github.com/manifoldxyz/manifold-contract-addresses, the events in
// packages/indexer/src/sync/events/data/manifold.ts of https://github.com/reservoirprotocol/indexer. An event names the listing, but not its token, its
// seller or its currency. The marketplace holds the token of a listing, or has it minted when it is sold.

import type { EventPosition, OrderFulfilled } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs, VerifiedLog } from './event-decoder.ts';
import { unreadable, UnreadSale } from './event-decoder.ts';
import type { SoldToken } from './market-fill.ts';
import { toFill, withCurrency } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfersBefore } from './token-standards.ts';

export const MANIFOLD_TOPICS = {
  purchase: '0x0e0d473f43a9d8727e62653cce4cd80d0c870ffb83dc4c93c9db4cb8ffe7053e',
  offerAccepted: '0xd6df7c9a0f20ac7b678de872504d1dc938cd654638a43d5312d295e51c23e470',
  listingFinalized: '0x7a64269d6d03ead41925c75675255493546f656ebb9cae4158fea2633d86c541',
} as const satisfies Record<string, Hex>;

/** The words are referrer, buyer, count and price. */
const purchase: EventDecoder = ({ address, data, logIndex }, position, events, logsOf) => {
  const [buyer, price] = [addressAt(data, 1), bigintAt(data, 3)];
  const tokens = listDelivered({ address, logIndex }, buyer, logsOf);
  events.push(toSale(position, { address, buyer, price, tokens }));
};

/** The words are the account that made the offer, and its amount. */
const offerAccepted: EventDecoder = ({ address, data, logIndex }, position, events, logsOf) => {
  const [buyer, price] = [addressAt(data, 0), bigintAt(data, 1)];
  const tokens = listDelivered({ address, logIndex }, buyer, logsOf);
  events.push(toSale(position, { address, buyer, price, tokens }));
};

/**
 * The fill has the form of an accepted bid, because only such a fill can lack its seller. Until the transaction is read, the address of the
 * marketplace is a placeholder for the unknown currency.
 */
function toSale(
  position: EventPosition,
  { address, ...sold }: { address: Address; buyer: Address; price: bigint; tokens: readonly SoldToken[] },
): OrderFulfilled {
  const unknown = { seller: ZERO_ADDRESS, currency: address };
  return toFill(position, { protocol: address, orderHash: null, isBid: true, ...sold, ...unknown });
}

/** The tokens that the buyer received from the marketplace, or that were minted to the buyer, since the previous log of the marketplace. */
function listDelivered(
  log: Pick<VerifiedLog, 'address' | 'logIndex'>,
  buyer: Address,
  logsOf: TransactionLogs,
): SoldToken[] {
  const delivered = listTransfersBefore(log, logsOf).filter(
    ({ from, to }) => to === buyer && (from === log.address || from === ZERO_ADDRESS),
  );
  const contract = delivered.at(-1)?.contract;
  if (contract === undefined) throw new UnreadSale('a listing without a token');
  return delivered
    .filter((transfer) => transfer.contract === contract)
    .map(({ tokenId, quantity }) => ({ contract, tokenId: BigInt(tokenId), quantity }));
}

/**
 * A purchase whose transaction carries its price in native currency is paid in this currency, because the marketplace accepts native currency only
 * for listings in it. Otherwise the currency stays unknown: that of an accepted offer was paid when the offer was made.
 */
function readCallData(fill: OrderFulfilled, _: Hex, value: bigint | null): OrderFulfilled {
  const price = fill.offer[0]?.amount ?? 0n;
  return value !== null && price > 0n && value >= price ? withCurrency(fill, ZERO_ADDRESS) : fill;
}

/** The contracts with this form of the events. */
export const MANIFOLD: SettlementProtocol = {
  name: 'manifold',
  listContracts: deployedAt({
    ethereum: ['0x3a3548e060be10c2614d0a4cb0c03cc9093fd799', '0x5246807fb65d87b0d0a234e0f3d42374de83b421'],
    base: ['0x5246807fb65d87b0d0a234e0f3d42374de83b421'],
    apechain: ['0x5246807fb65d87b0d0a234e0f3d42374de83b421'],
    optimism: ['0x5246807fb65d87b0d0a234e0f3d42374de83b421'],
    shape: ['0x5246807fb65d87b0d0a234e0f3d42374de83b421'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [MANIFOLD_TOPICS.purchase, purchase],
    [MANIFOLD_TOPICS.offerAccepted, offerAccepted],
    [MANIFOLD_TOPICS.listingFinalized, unreadable('an auction without its bid')],
  ]),
  settlesOwnOrders: false,
  readCallData,
  findMarketplace: () => 'manifold',
};
