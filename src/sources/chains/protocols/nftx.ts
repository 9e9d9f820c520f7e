// NFTX: vaults that hold the tokens of one collection, each for one unit of an ERC-20 token. A sale is an exchange of tokens of a collection for
// currency, which the marketplace zap makes of a trade of vault tokens and a deposit or redemption. https://github.com/NFTX-project/nftx-protocol-v2,
// NFTXMarketplaceZap.sol and NFTXMarketplace0xZap.sol; https://github.com/NFTX-project/nftx-protocol-v3, src/zaps/MarketplaceUniversalRouterZap.sol and
// addresses.json. The addresses of version 2 are in packages/sdk/src/nftx/addresses.ts of https://github.com/reservoirprotocol/indexer.
// The events of the zaps name no token: the vault and the tokens are in the transfers before the event.

import type { Transfer } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, arrayAt, bigintAt } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs, VerifiedLog } from './event-decoder.ts';
import { UnreadSale } from './event-decoder.ts';
import type { MarketSale } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfersBefore } from './token-standards.ts';

export const NFTX_V2_TOPICS = {
  buy: '0xf7735c8cb2a65788ca663fc8415b7c6a66cd6847d58346d8334e8d52a599d3df',
  sell: '0x1cdb5ee3c47e1a706ac452b89698e5e3f2ff4f835ca72dde8936d0f4fcf37d81',
} as const satisfies Record<string, Hex>;

export const NFTX_V3_TOPICS = {
  buy: '0x1bee93f76102c6aca0e829ff7984261cfcb8480b2308d5f92bfa2b82f99ae9d6',
  sell: '0x9af014271d6e0a4ddb4fc79025d8a27025ea290b30dfc788a79aa055e2b5a2a7',
} as const satisfies Record<string, Hex>;

/** This zap of version 2 trades through 0x. Its `Buy` has the amount of vault tokens in place of the price. */
const ZAP_OF_ZEROEX = '0x941a6d105802cccaa06de58a13a6f49ebdcd481c';

/**
 * The most logs that a vault and its tokens emit between the last transfer of a redemption and the `Buy` of the zap. An earlier transfer is of
 * another purchase, whose collection is followed while that of the vault is not.
 */
const LOGS_OF_REDEMPTION_MAX = 6;

type Sold = Pick<MarketSale, 'seller' | 'buyer' | 'tokens'>;

/** The words are the number of tokens, the price, and the receiver of the tokens. */
const buyV2: EventDecoder = (log, position, events, logsOf) => {
  const { address, data, logIndex } = log;
  const [count, price, buyer] = [bigintAt(data, 0), bigintAt(data, 1), addressAt(data, 2)];
  const redeemed = listRedeemed(log, buyer, logsOf);
  const last = redeemed.at(-1)?.logIndex ?? 0;
  if (logIndex - last > LOGS_OF_REDEMPTION_MAX) throw new UnreadSale(INCOMPLETE);
  const currency = address === ZAP_OF_ZEROEX ? address : ZERO_ADDRESS;
  events.push(
    toFill(position, { ...FILL, protocol: address, isBid: false, currency, price, ...soldBy(redeemed, count) }),
  );
};

/** The words are the vault, the ids of the tokens, the price with all fees, and the receiver of the tokens. */
const buyV3: EventDecoder = (log, position, events, logsOf) => {
  const { address, data } = log;
  const { start, length } = arrayAt(data, 1, 1);
  const ids = new Set(Array.from({ length }, (_, index) => bigintAt(data, start + index)));
  const [price, buyer] = [bigintAt(data, 2), addressAt(data, 3)];
  const redeemed = listRedeemed(log, buyer, logsOf).filter(({ tokenId }) => ids.has(BigInt(tokenId)));
  const sold = soldBy(redeemed, BigInt(length));
  events.push(toFill(position, { ...FILL, protocol: address, isBid: false, currency: ZERO_ADDRESS, price, ...sold }));
};

/**
 * The words are the number of tokens, what the seller received, and the receiver of the payment. For units of ERC-1155 that are sold for wrapped
 * currency, a zap reports a number of units in place of the price. No price is as low as a wei for each token.
 */
const sellV2: EventDecoder = (log, position, events, logsOf) => {
  const { address, data } = log;
  const [count, price, receiver] = [bigintAt(data, 0), bigintAt(data, 1), addressAt(data, 2)];
  const currency = price <= count ? address : ZERO_ADDRESS;
  const bought = boughtBy(log, { receiver, count }, logsOf);
  events.push(toFill(position, { ...FILL, protocol: address, isBid: true, currency, price, ...bought }));
};

/** The words are the vault, the number of tokens, what the seller received, the receiver of the payment, royalties, and fees. */
const sellV3: EventDecoder = (log, position, events, logsOf) => {
  const { address, data } = log;
  const [count, receiver] = [bigintAt(data, 1), addressAt(data, 3)];
  const price = bigintAt(data, 2) + bigintAt(data, 4) + bigintAt(data, 5);
  const bought = boughtBy(log, { receiver, count }, logsOf);
  events.push(toFill(position, { ...FILL, protocol: address, isBid: true, currency: ZERO_ADDRESS, price, ...bought }));
};

const FILL = { orderHash: null };
const INCOMPLETE = 'the tokens of a vault are not all in the logs';

/** The last transfers of one contract from one account to the buyer. The account is the vault. */
function listRedeemed(log: VerifiedLog, buyer: Address, logsOf: TransactionLogs): Transfer[] {
  const received = listTransfersBefore(log, logsOf).filter(({ to }) => to === buyer);
  const last = received.at(-1);
  return received.filter(({ contract, from }) => contract === last?.contract && from === last.from);
}

function soldBy(transfers: readonly Transfer[], count: bigint): Sold {
  const [first] = transfers;
  if (!first || unitsOf(transfers) !== count) throw new UnreadSale(INCOMPLETE);
  return { seller: first.from, buyer: first.to, tokens: toTokens(transfers) };
}

/**
 * The vault is the last account that received tokens. Tokens of ERC-721 come from the seller, tokens of ERC-1155 through the zap. A seller that
 * also received tokens in the transaction is not a vault.
 */
function boughtBy(
  log: VerifiedLog,
  { receiver, count }: { receiver: Address; count: bigint },
  logsOf: TransactionLogs,
): Sold {
  const zap = log.address;
  const transfers = listTransfersBefore(log, logsOf);
  const last = transfers.findLast(({ to }) => to !== zap && to !== receiver);
  const deposited = transfers.filter(({ contract, to }) => contract === last?.contract && to === last.to);
  if (!last || unitsOf(deposited) !== count) throw new UnreadSale(INCOMPLETE);
  const toZap = transfers.find(({ contract, to }) => contract === last.contract && to === zap);
  return {
    seller: last.from === zap && toZap ? toZap.from : last.from,
    buyer: last.to,
    tokens: toTokens(deposited),
  };
}

function unitsOf(transfers: readonly Transfer[]): bigint {
  return transfers.reduce((sum, { quantity }) => sum + quantity, 0n);
}

function toTokens(transfers: readonly Transfer[]): MarketSale['tokens'] {
  return transfers.map(({ contract, tokenId, quantity }) => ({ contract, tokenId: BigInt(tokenId), quantity }));
}

/**
 * `Swap`, and the events of the vaults themselves (`Minted`, `Redeemed`, `Swapped`), exchange tokens for tokens, of the collection or of the vault,
 * and so have no price. They are not sales.
 */
export const NFTX_V2: SettlementProtocol = {
  name: 'nftx-v2',
  listContracts: deployedAt({ ethereum: ['0x0fc584529a2aefa997697fafacba5831fac0c22d', ZAP_OF_ZEROEX] }),
  decoders: new Map<Hex, EventDecoder>([
    [NFTX_V2_TOPICS.buy, buyV2],
    [NFTX_V2_TOPICS.sell, sellV2],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'nftx',
};

export const NFTX_V3: SettlementProtocol = {
  name: 'nftx-v3',
  listContracts: deployedAt({
    ethereum: ['0x293a0c49c85f1d8851c665ac3ce1f1dc2a79be3d'],
    base: ['0x31cb832f661cd90fc9fca6fb70a39ca811a02aed'],
    arbitrum: ['0xf56296b3010a59ef7f0915569dd44e1302b9ca40'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [NFTX_V3_TOPICS.buy, buyV3],
    [NFTX_V3_TOPICS.sell, sellV3],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'nftx',
};
