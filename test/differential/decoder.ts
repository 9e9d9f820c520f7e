// The independent decoder: finds the sales in receipts, by docs/protocols.md. It judges what the service serves, so it shares no code with src.

import type { DecodedReceipt, Move } from './receipt-facts.ts';
import { listMoves, ZERO } from './receipt-facts.ts';
import type { Item, PoolFacts, Reading, Trade } from './trades.ts';
import { readLog } from './trades.ts';

/** A sale, as the service should know it. */
export type Sale = {
  tx: string;
  contract: string;
  /** Null for several tokens that were sold for one price. */
  tokenId: string | null;
  units: string;
  /** Base units of the native currency; `<amount> of <currency>`; `unknown`; or `undivided` for tokens of several contracts. */
  price: string;
  seller: string | null;
  buyer: string | null;
  marketplace: string;
};

/** A log of a settlement contract whose event docs/protocols.md names. `at`: the index of the log in the receipt. */
export type JudgedLog = { tx: string; at: number; protocol: string; kind: Reading['kind']; reason: string | null };

export type Decoded = {
  sales: Sale[];
  logs: JudgedLog[];
};

const WRAPPED = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const BLEND = '0x29469395eaf6f95920e59f858042f0e28d98a20b';

/**
 * Decodes the receipts in the order of the chain. `codes`: the code of contracts that may be pools. `knowsBids`: whether the payment of an
 * accepted bid may be that of the bid's own, earlier transaction.
 */
export function decodeReceipts(
  receipts: readonly DecodedReceipt[],
  { codes = new Map(), knowsBids = true }: { codes?: ReadonlyMap<string, string>; knowsBids?: boolean } = {},
): Decoded {
  const pools = new Map(
    [...codes].flatMap(([address, code]) => parsePool(code).map((pool) => [address, pool] as const)),
  );
  const punkBids = new Map<string, bigint>();
  const decoded: Decoded = { sales: [], logs: [] };
  for (const receipt of receipts) {
    if (!knowsBids) punkBids.clear();
    const moves = listMoves(receipt);
    const trades: Trade[] = [];
    for (const at of receipt.logs.keys()) {
      const reading = readLog({ receipt, moves, pools, punkBids }, at);
      if (reading === null) continue;
      const { protocol, kind } = reading;
      decoded.logs.push({ tx: receipt.hash, at, protocol, kind, reason: kind === 'trades' ? null : reading.reason });
      if (kind === 'trades') trades.push(...reading.trades);
    }
    const { joined, mirrors } = joinMatched(trades);
    for (const log of decoded.logs) {
      if (log.tx !== receipt.hash || mirrors.every(({ at }) => at !== log.at)) continue;
      log.kind = 'no sale';
      log.reason = 'each bid is a sale';
    }
    for (const trade of joined) decoded.sales.push(...toSales(receipt, trade, { trades: joined, moves }));
  }
  return decoded;
}

const PROXY_END = '5af43d3d93803e603357fd5bf3';
const FACTORIES: Readonly<Record<string, 1 | 2>> = {
  '0xb16c1342e617a5b6e4b631eb114483fdb289c0a4': 1,
  '0xa020d57ab0448ef74115c112d18a9c231cc86000': 2,
};

/** A pool's code ends with factory, curve, collection, kind; in version 2 a property checker, or for ERC-1155 the token id; then the currency. */
function parsePool(code: string): PoolFacts[] {
  const facts = code.split(PROXY_END)[1];
  if (facts === undefined) return [];
  const accountAt = (byte: number) => `0x${facts.slice(2 * byte, 2 * byte + 40)}`;
  const version = FACTORIES[accountAt(0)];
  const bytes = facts.length / 2;
  if (version === undefined) return [];
  const hasId = version === 2 && (bytes === 93 || bytes === 113);
  const start = version === 1 ? 61 : hasId ? 93 : 81;
  const id = hasId ? BigInt(`0x${facts.slice(122, 186)}`) : null;
  return [{ version, collection: accountAt(40), id, currency: bytes > start ? accountAt(start) : ZERO }];
}

const itemsKey = ({ items }: Trade) =>
  items
    .map(({ contract, id, units }) => `${contract}/${id}/${units}`)
    .toSorted()
    .join();

/**
 * Two orders that were matched with each other are one trade: of the bidder's payment, at the marketplace of either. If an order was matched with
 * several, each bid is a trade.
 */
function joinMatched(trades: readonly Trade[]): { joined: Trade[]; mirrors: Trade[] } {
  const bids = trades.filter(({ isBid, match }) => isBid && match?.isMatched);
  const taken = new Set<Trade>();
  const joined = trades.map((ask) => {
    if (ask.isBid || !ask.match?.isMatched) return ask;
    const bid = bids.find((one) => !taken.has(one) && itemsKey(one) === itemsKey(ask));
    if (!bid) return ask;
    taken.add(bid);
    const { buyer, price, currency } = bid;
    return { ...ask, buyer, price, currency, marketplace: ask.marketplace ?? bid.marketplace };
  });
  const idsOf = ({ items }: Trade) => new Set(items.map(({ contract, id }) => `${contract}/${id}`));
  const unpaired = bids.filter((bid) => !taken.has(bid)).map(idsOf);
  // An ask that a pair has joined is another object.
  const mirrors = joined.filter(
    (trade) =>
      trades.includes(trade) &&
      !trade.isBid &&
      trade.match?.isMatched === true &&
      unpaired.some((ids) => idsOf(trade).isSubsetOf(ids)),
  );
  return { joined: joined.filter((trade) => !taken.has(trade) && !mirrors.includes(trade)), mirrors };
}

function toSales(
  receipt: DecodedReceipt,
  trade: Trade,
  known: { trades: readonly Trade[]; moves: readonly Move[] },
): Sale[] {
  const byContract = Map.groupBy(trade.items, ({ contract }) => contract);
  return [...byContract].map(([contract, items]) => {
    const [item] = items;
    const ids = new Set(items.map(({ id }) => id));
    const tokenId = item && ids.size === 1 && byContract.size === 1 ? item.id : null;
    const parties = item && tokenId !== null ? partiesOf(receipt, trade, { item, ...known }) : trade;
    return {
      tx: receipt.hash,
      contract,
      tokenId: tokenId === null ? null : tokenId.toString(),
      units: items.reduce((sum, { units }) => sum + units, 0n).toString(),
      price: byContract.size > 1 ? 'undivided' : toPrice(trade),
      seller: parties.seller,
      buyer: parties.buyer,
      marketplace: trade.marketplace ?? 'unknown',
    };
  });
}

function toPrice({ price, currency }: Trade): string {
  if (price === null) return 'unknown';
  return currency === ZERO || currency === WRAPPED ? price.toString() : `${price} of ${currency}`;
}

/**
 * The parties of the events, completed by the way of the token through the transaction: an account that did not sign the transaction, and that
 * passes the token on without trading it, is no party.
 */
function partiesOf(
  { from: signer, input }: DecodedReceipt,
  trade: Trade,
  { item, trades, moves }: { item: Item; trades: readonly Trade[]; moves: readonly Move[] },
): Pick<Trade, 'seller' | 'buyer'> {
  const ways = toWays(moves.filter(({ contract, id }) => contract === item.contract && id === item.id));
  const others = trades.filter(
    (other) => other !== trade && other.items.some((one) => one.contract === item.contract && one.id === item.id),
  );
  const { seller: namedSeller, buyer: namedBuyer, isBid, exchange } = trade;
  const ofToken = moves.filter(({ contract, id }) => contract === item.contract && id === item.id);
  const holds = (account: string | null) => ways.find((way) => account !== null && way.includes(account));
  const way = holds(namedBuyer) ?? holds(namedSeller) ?? [];
  const isEnd = (account: string | undefined, traders: readonly (string | null)[]) =>
    account === signer || traders.includes(account ?? null);

  let seller = namedSeller;
  let buyer = namedBuyer;
  // A matched bid names no seller: the first that delivers to the bidder is the seller.
  if (seller === null && isBid && trade.match) seller = ofToken.find(({ to }) => to === buyer)?.from ?? null;
  const buys = others.map(({ buyer: one }) => one);
  if (seller !== null && !input.includes('619a309f')) {
    const before = way.indexOf(namedBuyer ?? '') > 0 ? way.lastIndexOf(namedBuyer ?? '') - 1 : undefined;
    let at = way.lastIndexOf(seller, before);
    while (at > 0 && !isEnd(way[at], buys) && way[at - 1] !== ZERO) at -= 1;
    seller = way[at] ?? seller;
    while (!isEnd(seller, buys)) {
      const source = passedOn(seller, ofToken, 'from');
      if (source === null) break;
      seller = source;
    }
    // The maker of a listing is the seller, unless the signer of the transaction has sent the token to it.
    if (!isBid && seller !== signer) seller = namedSeller;
  }
  const sells = others.map(({ seller: one }) => one);
  if (buyer !== null && buyer !== BLEND) {
    let at = way.indexOf(buyer, Math.max(0, way.indexOf(seller ?? '')));
    if (at < 0) at = way.indexOf(buyer);
    while (at >= 0 && at < way.length - 1 && !isEnd(way[at], sells) && way[at + 1] !== ZERO) at += 1;
    buyer = way[at] ?? buyer;
    while (!isEnd(buyer, sells)) {
      const receiver = passedOn(buyer, ofToken, 'to');
      if (receiver === null) break;
      buyer = receiver;
    }
  }
  return { seller: seller === ZERO || (seller === exchange && isBid) ? null : seller, buyer };
}

/**
 * The account to which (`to`) or from which (`from`) the account passed on all units that it had, in parts of another size. Null if it kept or had some,
 * and if there are several such accounts.
 */
function passedOn(account: string, moves: readonly Move[], side: 'from' | 'to'): string | null {
  const sum = (some: readonly Move[]) => some.reduce((total, { units }) => total + units, 0n);
  const [received, sent] = [moves.filter(({ to }) => to === account), moves.filter(({ from }) => from === account)];
  const [others, ...more] = new Set((side === 'to' ? sent : received).map((move) => move[side]));
  if (others === undefined || more.length > 0 || others === ZERO || sum(received) !== sum(sent)) return null;
  return others;
}

/** The ways of the units of one token through the transaction, each as the list of its holders. */
function toWays(moves: readonly Move[]): string[][] {
  const ways: { units: bigint; holders: string[] }[] = [];
  for (const { from, to, units } of moves) {
    const open = ways.find((way) => way.units === units && way.holders.at(-1) === from);
    if (open) open.holders.push(to);
    else ways.push({ units, holders: [from, to] });
  }
  return ways.map(({ holders }) => holders);
}
