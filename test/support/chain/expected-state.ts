// Computes the expected state of a local chain. Tests compare the service's responses with this state. The state is
// computed from the chain's newest state, the chain's logs and the accepted orders, and never with the service's own rules for statuses or sales.

import type { Address, Hex, Log } from 'viem';
import { decodeFunctionResult, encodeFunctionData, parseEventLogs, zeroAddress } from 'viem';
import type { LocalChain } from '../../../devnet/chain.ts';
import { readBlock } from '../../../devnet/chain.ts';
import type { Listing } from '../../../devnet/chain-state.ts';
import { operatorOf } from '../../../devnet/chain-state.ts';
import type { Contract } from '../../../devnet/protocol.ts';
import type { World } from '../../../devnet/world.ts';

/** `dormant`: the offerer lacks the token or the approval. With both, the order could be filled. */
export type ExpectedOrder = {
  status: 'active' | 'dormant' | 'filled' | 'cancelled' | 'expired';
  /** Units bought so far. */
  filled: bigint;
};

export type ExpectedSale = {
  tx: Hex;
  /**
   * The log index of the fill. When two orders are matched, each order has a fill. The sale then has the log index of the fill of the order
   * that offers the tokens.
   */
  logIndex: number;
  blockNumber: number;
  /** The contract that emitted the event of the sale. */
  source: Address;
  tokens: readonly { contract: Address; tokenId: bigint; units: bigint }[];
  bundle: boolean;
  /** The total that the buyer paid, in base units of the currency. */
  price: bigint;
  currency: 'native' | 'wrapped' | 'other';
  seller: Address;
  buyer: Address;
};

export type ExpectedState = {
  height: number;
  /** By order hash. */
  orders: Map<Hex, ExpectedOrder>;
  /** Owners of ERC-721 tokens by `contract:tokenId`. Null if the token is burnt. */
  owners: Map<string, Address | null>;
  /** Balances of ERC-1155 tokens by `contract:tokenId:holder`. Balances of zero are left out. */
  units: Map<string, bigint>;
  /** By contract: the lowest amount per unit that an offerer asks, in native or wrapped currency. Null if there is no such ask. */
  floors: Map<Address, bigint | null>;
  /** In block order. */
  sales: readonly ExpectedSale[];
};

/** `now` is in milliseconds since 1970. The default is the time of the chain's clock. */
export async function readExpectedState(
  world: World,
  accepted: readonly Listing[],
  now: number = world.chain.clock(),
): Promise<ExpectedState> {
  const { chain, protocol, collections } = world;
  const height = Number(await chain.rpc.call<Hex>('eth_blockNumber'));
  const events = await readEvents(chain, [protocol.seaport, ...otherContracts(world), ...collections]);
  const orders = await readOrders(world, accepted, { events, now });
  const open = accepted.filter(({ hash }) => orders.get(hash)?.status === 'active');
  return {
    height,
    orders,
    ...(await readHoldings(world, events)),
    floors: new Map(collections.map(({ address }) => [address, floorOf(world, open, address)])),
    sales: [...toSales(world, events), ...toOtherSales(events)].sort(
      (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
    ),
  };
}

type Event = Log<bigint, number, false> & { eventName: string; args: Record<string, unknown> };

async function readEvents(chain: LocalChain, contracts: readonly Contract[]): Promise<Event[]> {
  const address = contracts.map((contract) => contract.address);
  const logs = await chain.rpc.call<object[]>('eth_getLogs', { address, fromBlock: '0x0', toBlock: 'latest' });
  const found = contracts.flatMap(({ abi, address }) => {
    const own = logs.filter((log) => (log as { address: string }).address.toLowerCase() === address) as Log[];
    return parseEventLogs({ abi, logs: own }) as unknown as Event[];
  });
  return found.sort((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || a.logIndex - b.logIndex);
}

type Read = { contract: Contract; name: string; args: readonly unknown[] };

/** Values at the newest block. Null where the call reverts. */
async function readValues(chain: LocalChain, reads: readonly Read[]): Promise<unknown[]> {
  const calls = reads.map(({ contract: { abi, address }, name, args }) => ({
    method: 'eth_call',
    params: [{ to: address, data: encodeFunctionData({ abi, functionName: name, args }) }, 'latest'],
  }));
  const results = await chain.rpc.readAll<Hex>(calls);
  return results.map((data, index) => {
    const read = reads[index];
    if (data === null || !read) return null;
    return decodeFunctionResult({ abi: read.contract.abi, functionName: read.name, data });
  });
}

async function readOrders(
  world: World,
  accepted: readonly Listing[],
  { events, now }: { events: readonly Event[]; now: number },
): Promise<ExpectedState['orders']> {
  const { chain, protocol } = world;
  const { seaport } = protocol;
  const statuses = await readValues(
    chain,
    accepted.map(({ hash }) => ({ contract: seaport, name: 'getOrderStatus', args: [hash] })),
  );
  const counters = await readValues(
    chain,
    accepted.map(({ components }) => ({ contract: seaport, name: 'getCounter', args: [components.offerer] })),
  );
  const fillable = await readFillable(world, accepted);
  const endTimes = await readEndTimes(chain, events);
  return new Map(
    accepted.map((listing, index) => {
      const { components, hash } = listing;
      const [, isCancelled, totalFilled, totalSize] = statuses[index] as readonly [boolean, boolean, bigint, bigint];
      const units = listing.tokens[0]?.units ?? 0n;
      const filled = totalSize === 0n ? 0n : (units * totalFilled) / totalSize;
      const expiresAt = Number(components.endTime) * 1000;
      const toEntry = (status: ExpectedOrder['status']): [Hex, ExpectedOrder] => [hash, { status, filled }];
      if (totalSize > 0n && totalFilled === totalSize) return toEntry('filled');
      const hasOldCounter = counters[index] !== components.counter;
      const cancelledAt = [
        ...(isCancelled ? [endTimes.get(hash)] : []),
        ...(hasOldCounter ? [endTimes.get(counterKey(components.offerer, components.counter))] : []),
      ].map((time) => time ?? 0);
      if (cancelledAt.length > 0 && Math.min(...cancelledAt) < expiresAt) return toEntry('cancelled');
      if (expiresAt <= now) return toEntry('expired');
      return toEntry(fillable[index] === true ? 'active' : 'dormant');
    }),
  );
}

/** For each order, whether the offerer holds the token and has approved its transfer. One unit of an ERC-1155 token suffices. */
async function readFillable({ chain, collections }: World, accepted: readonly Listing[]): Promise<boolean[]> {
  const offers = accepted.flatMap(({ components, tokens }) => {
    const [token] = tokens;
    const contract = collections.find(({ address }) => address === token?.contract);
    if (!token || !contract || tokens.length > 1) throw new Error('only orders for one token are supported');
    return { token, contract, offerer: components.offerer, operator: operatorOf(components.conduitKey) };
  });
  const reads = offers.flatMap(({ token, contract, offerer, operator }): Read[] => {
    const single = token.standard === 'erc721';
    // An ERC-1155 token has no approval of its own. This read takes the place of the approval, so that each order has three reads.
    const placeholder: Read = { contract, name: 'supportsInterface', args: ['0xffffffff'] };
    return [
      single
        ? { contract, name: 'ownerOf', args: [token.tokenId] }
        : { contract, name: 'balanceOf', args: [offerer, token.tokenId] },
      { contract, name: 'isApprovedForAll', args: [offerer, operator] },
      single ? { contract, name: 'getApproved', args: [token.tokenId] } : placeholder,
    ];
  });
  const values = await readValues(chain, reads);
  return offers.map(({ token, offerer, operator }, index) => {
    const [ownerOrBalance, isOperatorApproved, approvedAddress] = values.slice(index * 3, index * 3 + 3);
    const holds = token.standard === 'erc721' ? lower(ownerOrBalance) === offerer : (ownerOrBalance as bigint) > 0n;
    return holds && (isOperatorApproved === true || lower(approvedAddress) === operator);
  });
}

/**
 * Returns the times of cancels and counter increments, in milliseconds. The key of a cancel is the order hash. The key of a counter increment
 * is the offerer with the counter before the increment.
 */
async function readEndTimes(chain: LocalChain, events: readonly Event[]): Promise<Map<string, number>> {
  const endTimes = new Map<string, number>();
  const counters = new Map<Address, bigint>();
  for (const { eventName, args, blockNumber } of events) {
    if (eventName !== 'OrderCancelled' && eventName !== 'CounterIncremented') continue;
    const time = Number((await readBlock(chain, Number(blockNumber))).timestamp) * 1000;
    if (eventName === 'OrderCancelled') endTimes.set(args['orderHash'] as Hex, time);
    else {
      const offerer = lower(args['offerer']);
      endTimes.set(counterKey(offerer, counters.get(offerer) ?? 0n), time);
      counters.set(offerer, args['newCounter'] as bigint);
    }
  }
  return endTimes;
}

function counterKey(offerer: Address, counter: bigint): string {
  return `${offerer}:${counter}`;
}

async function readHoldings(
  { chain, collections }: World,
  events: readonly Event[],
): Promise<Pick<ExpectedState, 'owners' | 'units'>> {
  const reads = new Map<string, Read>();
  for (const { eventName, args, address } of events) {
    const contract = collections.find((collection) => collection.address === address.toLowerCase());
    if (!contract) continue;
    if (eventName === 'Transfer') {
      const tokenId = (args['tokenId'] ?? args['id']) as bigint;
      reads.set(`${contract.address}:${tokenId}`, { contract, name: 'ownerOf', args: [tokenId] });
      continue;
    }
    const ids = eventName === 'TransferSingle' ? [args['id']] : eventName === 'TransferBatch' ? args['ids'] : [];
    for (const id of ids as bigint[])
      reads.set(`${contract.address}:${id}:${lower(args['to'])}`, {
        contract,
        name: 'balanceOf',
        args: [args['to'], id],
      });
  }
  // balanceOf reverts for the zero address.
  const answerable = [...reads].filter(([key]) => !key.endsWith(zeroAddress));
  const values = await readValues(
    chain,
    answerable.map(([, read]) => read),
  );
  const owners: ExpectedState['owners'] = new Map();
  const units: ExpectedState['units'] = new Map();
  for (const [index, [key, { name }]] of answerable.entries()) {
    const value = values[index];
    if (name === 'ownerOf') owners.set(key, value === null ? null : lower(value));
    else if ((value as bigint) > 0n) units.set(key, value as bigint);
  }
  return { owners, units };
}

function floorOf(world: World, open: readonly Listing[], contract: Address): bigint | null {
  const asks = open.filter(({ tokens }) => tokens[0]?.contract === contract).flatMap((one) => askOf(world, one) ?? []);
  return asks.reduce<bigint | null>((least, ask) => (least === null || ask < least ? ask : least), null);
}

/** The amount that the offerer gets for one unit, rounded up. Null if the currency is neither native nor wrapped. */
function askOf(world: World, { components, tokens }: Listing): bigint | null {
  if (currencyOf(world, components.consideration) === 'other') return null;
  const units = tokens[0]?.units ?? 1n;
  const own = components.consideration.filter(({ recipient }) => recipient.toLowerCase() === components.offerer);
  const sum = own.reduce((total, { startAmount }) => total + startAmount, 0n);
  return (sum + units - 1n) / units;
}

function currencyOf(
  { protocol }: World,
  items: readonly { itemType: number; token: string }[],
): ExpectedSale['currency'] {
  const payments = items.filter(({ itemType }) => itemType <= 1);
  if (payments.every(({ itemType }) => itemType === 0)) return 'native';
  return payments.every(({ token }) => token.toLowerCase() === protocol.wrapped.address) ? 'wrapped' : 'other';
}

type Item = { itemType: number; token: Address; identifier: bigint; amount: bigint; recipient?: Address };

/** One sale for each fill, except that the two fills of a matched pair make one sale together. */
function toSales(world: World, events: readonly Event[]): ExpectedSale[] {
  const fills = events.filter(({ eventName }) => eventName === 'OrderFulfilled');
  const matches = events.filter(({ eventName }) => eventName === 'OrdersMatched');
  const matched = new Set(
    matches.flatMap(({ args, transactionHash }) =>
      (args['orderHashes'] as readonly Hex[]).map((hash) => `${transactionHash}:${hash}`),
    ),
  );
  return fills.flatMap(({ args, address, transactionHash: tx, logIndex, blockNumber }) => {
    const offer = args['offer'] as readonly Item[];
    const consideration = args['consideration'] as readonly Item[];
    const [offerer, recipient] = [lower(args['offerer']), lower(args['recipient'])];
    const isAsk = offer.some(isToken);
    // In a match, `recipient` receives only what is left over, and is neither seller nor buyer. The fill of the order that offers
    // the tokens becomes the sale. The fill of the other order adds no sale.
    const isMatched = matched.has(`${tx}:${args['orderHash'] as Hex}`);
    if (!isAsk && isMatched) return [];
    const tokens = (isAsk ? offer : consideration).filter(isToken);
    const payments = (isAsk ? consideration : offer).filter((item) => !isToken(item));
    const counterparty = isMatched ? receiverOf(fills, { tx, token: tokens[0] }) : recipient;
    const sale: ExpectedSale = {
      tx,
      logIndex,
      blockNumber: Number(blockNumber),
      source: lower(address),
      tokens: tokens.map(({ token, identifier, amount }) => ({
        contract: lower(token),
        tokenId: identifier,
        units: amount,
      })),
      bundle: tokens.length > 1,
      price: payments.reduce((sum, { amount }) => sum + amount, 0n),
      currency: currencyOf(world, payments),
      seller: isAsk ? offerer : counterparty,
      buyer: isAsk ? counterparty : offerer,
    };
    return [sale];
  });
}

function otherContracts({ others }: World): Contract[] {
  return others ? [others.looksRare, others.blur, ...others.pools.values()] : [];
}

/** The sales of the protocols other than Seaport. Each of these sales is of one ERC-721 token, for native currency. */
function toOtherSales(events: readonly Event[]): ExpectedSale[] {
  return events.flatMap(({ eventName, args, address, transactionHash: tx, logIndex, blockNumber }) => {
    const sold = toOtherSale(eventName, args);
    if (!sold) return [];
    const moved = events.find(
      (event) =>
        event.eventName === 'Transfer' &&
        event.transactionHash === tx &&
        event.logIndex < logIndex &&
        event.args['tokenId'] === sold.tokenId,
    );
    if (!moved) throw new Error(`no token moved in ${tx}`);
    const token = { contract: lower(moved.address), tokenId: sold.tokenId, units: 1n };
    const [seller, buyer] = [lower(moved.args['from']), lower(moved.args['to'])];
    const place = { tx, logIndex, blockNumber: Number(blockNumber), source: lower(address) };
    return [
      { ...place, tokens: [token], bundle: false, price: sold.price, currency: 'native' as const, seller, buyer },
    ];
  });
}

function toOtherSale(eventName: string, args: Record<string, unknown>): { tokenId: bigint; price: bigint } | null {
  if (eventName === 'TakerBid') {
    const [[tokenId = 0n], amounts] = [args['itemIds'] as bigint[], args['feeAmounts'] as bigint[]];
    return { tokenId, price: amounts.reduce((sum, amount) => sum + amount, 0n) };
  }
  if (eventName === 'Execution721Packed') {
    const [token, price] = [args['tokenIdListingIndexTrader'] as bigint, args['collectionPriceSide'] as bigint];
    return { tokenId: token >> 168n, price: price >> 160n };
  }
  if (eventName !== 'SwapNFTInPair' && eventName !== 'SwapNFTOutPair') return null;
  const [tokenId = 0n] = args['ids'] as bigint[];
  return { tokenId, price: (args['amountOut'] ?? args['amountIn']) as bigint };
}

/** The account that receives the token in the other order of a match. */
function receiverOf(fills: readonly Event[], { tx, token }: { tx: Hex; token: Item | undefined }): Address {
  for (const { transactionHash, args } of fills) {
    if (transactionHash !== tx) continue;
    const received = (args['consideration'] as readonly Item[]).find(
      (item) => isToken(item) && item.token === token?.token && item.identifier === token.identifier,
    );
    if (received?.recipient) return lower(received.recipient);
  }
  throw new Error(`no order receives the token that is sold in ${tx}`);
}

function isToken({ itemType }: Item): boolean {
  return itemType >= 2;
}

function lower(address: unknown): Address {
  return String(address).toLowerCase() as Address;
}
