// Reads the trades that the logs of settlement contracts report, by the published interfaces (docs/protocols.md), for the independent decoder.

import { decodeAbiParameters, keccak256, parseAbiParameters, stringToBytes } from 'viem';
import { AT } from '../support/chain/encoded-logs.ts';
import type { DecodedLog, DecodedReceipt, EventSet, Fields, Move } from './receipt-facts.ts';
import { findCalls, readEvent, ZERO } from './receipt-facts.ts';

export type Item = { contract: string; id: bigint; units: bigint };

export type Trade = {
  /** The index of the log in the receipt. */
  at: number;
  /** The settlement contract, or the pool. */
  exchange: string;
  marketplace: string | null;
  /** Whether the seller accepted a bid. */
  isBid: boolean;
  /** Null when the event does not name the account. */
  seller: string | null;
  buyer: string | null;
  items: readonly Item[];
  /** What the buyer paid. Null when the logs do not show it. */
  price: bigint | null;
  /** ZERO for the native currency. */
  currency: string;
  /** Set for orders that can be matched with each other. */
  match?: { hash: string | null; isMatched: boolean };
  /** The transfers before the log that deliver the items, where the event names no token. */
  moves?: readonly Move[];
};

/** What one log of a settlement contract is. `reason`: the words of docs/protocols.md. */
export type Reading =
  | { kind: 'trades'; trades: Trade[] }
  | { kind: 'no sale'; reason: string }
  | { kind: 'other'; reason: string }
  | { kind: 'unread'; reason: string };

export type Known = {
  receipt: DecodedReceipt;
  moves: readonly Move[];
  /** The parameters of pools, by address. */
  pools: ReadonlyMap<string, PoolFacts>;
  /** What each account last bid for a punk. */
  punkBids: Map<string, bigint>;
};

export type PoolFacts = { version: 1 | 2; collection: string; id: bigint | null; currency: string };

type Entry = Known & { log: DecodedLog; at: number; exchange: string; name: string; fields: Fields };
type Reader = (entry: Entry) => Reading;
type Protocol = {
  /** The name in the status. */
  name: string;
  events: EventSet;
  marketplace: string | null;
  /** On ethereum. */
  contracts: readonly string[];
  read: Reader;
};

const WRAPPED = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const BLUR_POOL = '0x0000000000a39bb272e79075ade125fd351887ac';
const NATIVE_OF_ZEROEX = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';
const STOREFRONT = '0x495f947276749ce646f68ac8c248420045cb7b5e';
const ADAPTER = '0xa604060890923ff400e8c6f5290461a83aedacec';
const BLEND = '0x29469395eaf6f95920e59f858042f0e28d98a20b';
const ZAP_OF_ZEROEX = '0x941a6d105802cccaa06de58a13a6f49ebdcd481c';
const LIL_NOUNS = '0x55e0f7a3bb39a28bd7bcc458e04b3cf00ad3219e';

const other = (reason: string): Reading => ({ kind: 'other', reason });
const unread = (reason: string): Reading => ({ kind: 'unread', reason });
const noSale = (reason: string): Reading => ({ kind: 'no sale', reason });

type Terms = Pick<Trade, 'isBid' | 'seller' | 'buyer' | 'items' | 'price' | 'currency'> &
  Partial<Pick<Trade, 'match' | 'moves' | 'marketplace'>>;
const trade = ({ at, exchange }: Entry, terms: Terms): Reading => ({
  kind: 'trades',
  trades: [{ at, exchange, marketplace: null, ...terms }],
});
const one = (contract: string, id: bigint, units = 1n): Item[] => [{ contract, id, units }];
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
/** The moves before the log, since the previous log of the same contract. */
const movesBefore = ({ moves, at, receipt, exchange }: Entry): Move[] => {
  const previous = receipt.logs.findLastIndex((log, index) => index < at && log.address.toLowerCase() === exchange);
  return moves.filter((move) => move.at < at && move.at > previous);
};
const toItems = (moves: readonly Move[]): Item[] => moves.map(({ contract, id, units }) => ({ contract, id, units }));

// Seaport

type SeaportItem = { itemType: number; token: string; identifier: bigint; amount: bigint; recipient?: string };

const seaport: Reader = (entry) => {
  const { name, fields, receipt } = entry;
  if (name !== 'orderFulfilled') return other(name);
  const { offerer, recipient, offer, consideration, orderHash } = fields;
  const isToken = ({ itemType }: SeaportItem) => itemType >= 2;
  const contractOf = ({ token }: SeaportItem) => (token === ADAPTER ? STOREFRONT : token);
  const keyOf = (item: SeaportItem) => `${contractOf(item)}/${item.identifier}/${item.amount}`;
  const given: SeaportItem[] = offer.filter(isToken);
  // A token that the order also offers is delivered to its recipient, and is not received.
  const left = given.map(keyOf);
  const received: SeaportItem[] = [];
  const heirs = new Set<string>();
  for (const item of consideration.filter(isToken) as SeaportItem[]) {
    const index = left.indexOf(keyOf(item));
    if (index < 0) received.push(item);
    else {
      left.splice(index, 1);
      heirs.add(item.recipient ?? ZERO);
    }
  }
  const isBid = given.length === 0;
  if (given.length > 0 && received.length > 0) return noSale('a fill with tokens on both sides');
  const [sold, paid] = isBid ? [received, offer] : [given, consideration];
  const payments = (paid as SeaportItem[]).filter((item) => !isToken(item));
  if (sold.length === 0 || payments.length === 0) return noSale('a fill without a token, or without a payment');
  const isMatched =
    recipient === ZERO ||
    receipt.logs.some((log) => {
      const read = log.address.toLowerCase() === entry.exchange ? readEvent('seaport', log) : null;
      return (
        read !== null &&
        read !== 'malformed' &&
        read.name === 'ordersMatched' &&
        read.fields.orderHashes.includes(orderHash)
      );
    });
  const counterparty = heirs.size === 1 ? [...heirs][0] : isMatched ? null : recipient;
  const currencies = new Set(payments.map(({ token }) => (token === WRAPPED ? ZERO : token)));
  return trade(entry, {
    isBid,
    seller: isBid ? counterparty : offerer,
    buyer: isBid ? offerer : counterparty,
    items: sold.map((item) => ({ contract: contractOf(item), id: item.identifier, units: item.amount })),
    price: currencies.size === 1 ? sum(payments.map(({ amount }) => amount)) : null,
    currency: currencies.size === 1 ? ([...currencies][0] ?? ZERO) : 'several',
    match: { hash: orderHash, isMatched },
    marketplace: FORKS[entry.exchange] ?? tagged(receipt) ?? feeMarketplace(consideration),
  });
};

const FORKS: Readonly<Record<string, string>> = {
  '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a': 'alienswap',
  '0xaaaaaaaa33d3520a2266ce508bc079fcfe82c8e3': 'mooar',
};

/** The first four bytes of the hash of the marketplace's domain end the call data. */
const DOMAINS = {
  'opensea.io': 'opensea',
  'pro.opensea.io': 'opensea-pro',
  'gem.xyz': 'gem',
  'magiceden.io': 'magic-eden',
  'blur.io': 'blur',
  'rarible.com': 'rarible',
  'looksrare.org': 'looksrare',
  'reservoir.tools': 'reservoir',
};
const TAGS = new Map(
  Object.entries(DOMAINS).map(([domain, slug]) => [keccak256(stringToBytes(domain)).slice(2, 10), slug]),
);
const tagged = ({ input }: DecodedReceipt) => TAGS.get(input.slice(-8)) ?? null;

const FEES: Readonly<Record<string, string>> = {
  '0x0000a26b00c1f0df003000390027140000faa719': 'opensea',
  '0x8de9c5a032463c561423387a9648c5c7bcc5bc90': 'opensea',
  '0x5b3256965e7c3cf26e11fcaf296dfc8807c01073': 'opensea',
};
const feeMarketplace = (consideration: SeaportItem[]) =>
  consideration.map(({ recipient = '' }) => FEES[recipient]).find((slug) => slug !== undefined) ?? null;

// Blur and its loans

const blurV1: Reader = (entry) => {
  const { name, fields } = entry;
  if (name !== 'ordersMatched') return other(name);
  const { sell, buy, maker } = fields;
  return trade(entry, {
    isBid: maker !== sell.trader,
    seller: sell.trader,
    ...withLoan(entry, buy.trader, sell.collection, sell.tokenId),
    items: one(sell.collection, sell.tokenId, sell.amount),
    price: sell.price,
    currency: sell.paymentToken === BLUR_POOL ? ZERO : sell.paymentToken,
  });
};

/** The buyer, or the borrower whose loan bought the token. */
function withLoan(
  { receipt }: Entry,
  buyer: string | null,
  collection: string,
  tokenId: bigint,
): { buyer: string | null } {
  if (buyer !== BLEND) return { buyer };
  for (const log of receipt.logs) {
    if (log.address.toLowerCase() !== BLEND) continue;
    const read = readEvent('blend', log);
    if (read === null || read === 'malformed' || read.name !== 'loanOfferTaken') continue;
    if (read.fields.collection === collection && read.fields.tokenId === tokenId)
      return { buyer: read.fields.borrower };
  }
  return { buyer };
}

const LIEN =
  '(address lender, address borrower, address collection, uint256 tokenId, uint256 amount, uint256 startTime, uint256 rate, uint256 auctionStartBlock, uint256 auctionDuration) lien';
const SELL_OFFER =
  '(address borrower, uint256 lienId, uint256 price, uint256 expirationTime, uint256 salt, address oracle, (uint16 rate, address recipient)[] fees) offer';
const LOAN_OFFER =
  '(address lender, address collection, uint256 totalAmount, uint256 minAmount, uint256 maxAmount, uint256 auctionDuration, uint256 salt, uint256 expirationTime, uint256 rate, address oracle) offer';
const BLUR_INPUT =
  '((address trader, uint8 side, address matchingPolicy, address collection, uint256 tokenId, uint256 amount, address paymentToken, uint256 price, uint256 listingTime, uint256 expirationTime, (uint16 rate, address recipient)[] fees, uint256 salt, bytes extraParams) order, uint8 v, bytes32 r, bytes32 s, bytes extraSignature, uint8 signatureVersion, uint256 blockNumber)';
export const BLEND_CALLS = {
  buyLocked: `function buyLocked(${LIEN}, ${SELL_OFFER}, bytes signature)`,
  buyToBorrowLocked: `function buyToBorrowLocked(${LIEN}, (${SELL_OFFER}, bytes signature) sell, (${LOAN_OFFER}, bytes signature) loan, uint256 amount)`,
  takeBid: `function takeBid(${LIEN}, uint256 lienId, (${BLUR_INPUT} sell, ${BLUR_INPUT} buy) execution)`,
};
/** The first words of the function with which a borrower accepts a bid; the form of its last argument has changed. */
const TAKE_BID_SELECTOR = '619a309f';

/** The seller, or the borrower whose token Blend sold to a bid. */
function withBorrower({ receipt }: Entry, seller: string | null, collection: string, tokenId: bigint): string | null {
  if (seller !== BLEND) return seller;
  const { input } = receipt;
  for (let at = input.indexOf(TAKE_BID_SELECTOR); at >= 0; at = input.indexOf(TAKE_BID_SELECTOR, at + 1)) {
    const words = input.slice(at + 8).match(/.{64}/g) ?? [];
    const [, borrower = '', inCollection = '', id = '0'] = words;
    if (inCollection.endsWith(collection.slice(2)) && BigInt(`0x${id}`) === tokenId) return `0x${borrower.slice(24)}`;
  }
  return seller;
}

const blurV2: Reader = (entry) => {
  const { name, fields } = entry;
  if (name === 'nonceIncremented') return other(name);
  if (name === 'execution') {
    const { transfer, price, makerFee, fees, orderType } = fields;
    const { trader, id, amount, collection } = transfer;
    const rate = BigInt(orderType === 1 ? makerFee.rate : fees.takerFee.rate);
    return blurSale(entry, {
      trader,
      isBid: orderType === 1,
      item: { contract: collection, id, units: amount },
      price,
      rate,
    });
  }
  const { tokenIdListingIndexTrader: first, collectionPriceSide: second } = fields;
  const account = (packed: bigint) => `0x${(packed % 2n ** 160n).toString(16).padStart(40, '0')}`;
  const isBid = second >> 248n === 1n;
  const packedRate = (isBid ? fields.makerFeeRecipientRate : fields.takerFeeRecipientRate) ?? 0n;
  return blurSale(entry, {
    trader: account(first),
    isBid,
    item: { contract: account(second), id: first >> 168n, units: 1n },
    price: (second >> 160n) % 2n ** 88n,
    rate: packedRate >> 160n,
  });
};

function blurSale(
  entry: Entry,
  { trader, isBid, item, price, rate }: { trader: string; isBid: boolean; item: Item; price: bigint; rate: bigint },
): Reading {
  const moved = entry.moves.filter(({ contract, id }) => contract === item.contract && id === item.id);
  const receiver = moved.find(({ from }) => from === trader)?.to ?? null;
  const sender = moved.find(({ to }) => to === trader)?.from ?? null;
  return trade(entry, {
    isBid,
    seller: isBid ? withBorrower(entry, sender, item.contract, item.id) : trader,
    ...withLoan(entry, isBid ? trader : receiver, item.contract, item.id),
    items: [item],
    // The taker of a listing and the maker of a bid pay their fee on top.
    price: price + (price * rate) / 10_000n,
    currency: ZERO,
  });
}

const blend: Reader = (entry) => {
  const { name, fields, receipt } = entry;
  if (name === 'loanOfferTaken') return noSale('nobody buys the token');
  const { collection, buyer, seller, tokenId } = fields;
  const offers = [
    ...findCalls(receipt.input, BLEND_CALLS.buyLocked).map(([lien, offer]: Fields) => ({ lien, offer })),
    ...findCalls(receipt.input, BLEND_CALLS.buyLocked.replace('buyLocked', 'buyLockedETH')).map(
      ([lien, offer]: Fields) => ({
        lien,
        offer,
      }),
    ),
    ...findCalls(receipt.input, BLEND_CALLS.buyToBorrowLocked).map(([lien, sell]: Fields) => ({
      lien,
      offer: sell.offer,
    })),
  ].filter(
    ({ lien, offer }) => lien.collection === collection && lien.tokenId === tokenId && offer.borrower === seller,
  );
  const prices = new Set<bigint>(offers.map(({ offer }) => offer.price));
  const price = prices.size === 1 ? ([...prices][0] ?? null) : null;
  return trade(entry, { isBid: false, seller, buyer, items: one(collection, tokenId), price, currency: ZERO });
};

// Exchanges with orders

const looksRareV1: Reader = (entry) => {
  const { name, fields } = entry;
  if (name !== 'takerAsk' && name !== 'takerBid') return other(name);
  const { maker, taker, currency, collection, tokenId, amount, price } = fields;
  const isBid = name === 'takerAsk';
  const [seller, buyer] = isBid ? [taker, maker] : [maker, taker];
  return trade(entry, { isBid, seller, buyer, items: one(collection, tokenId, amount), price, currency });
};

const looksRareV2: Reader = (entry) => {
  const { name, fields } = entry;
  if (name === 'orderNoncesCancelled') return other(name);
  const { askUser, bidUser, bidRecipient, feeRecipients, feeAmounts, currency, collection, itemIds, amounts } = fields;
  const isBid = name === 'takerAsk';
  return trade(entry, {
    isBid,
    seller: isBid ? askUser : feeRecipients[0],
    buyer: isBid ? bidUser : bidRecipient,
    items: (itemIds as bigint[]).map((id, index) => ({ contract: collection, id, units: amounts[index] })),
    price: sum(feeAmounts),
    currency,
  });
};

const x2y2: Reader = (entry) => {
  const { maker, taker, delegateType, currency, dataMask, item, detail } = entry.fields;
  if (detail.op === 5) return unread('the final price of an auction is not known');
  if (detail.op !== 1 && detail.op !== 2) return noSale('no token was paid for');
  if (delegateType !== 1n && delegateType !== 2n) return unread('an unknown kind of token');
  const isBid = detail.op === 2;
  const [seller, buyer] = isBid ? [taker, maker] : [maker, taker];
  const bytes = (hex: string) => [...Buffer.from(hex.slice(2), 'hex')];
  const [mask, replacement] = [bytes(dataMask), bytes(detail.dataReplacement)];
  const data = bytes(item.data).map((byte, index) =>
    replacement.length > 0 && (mask[index] ?? 0) !== 0 ? (replacement[index] ?? 0) : byte,
  );
  const pair = delegateType === 1n ? '(address token, uint256 id)[]' : '(address token, uint256 id, uint256 units)[]';
  const [pairs] = decodeAbiParameters(
    parseAbiParameters(pair),
    `0x${Buffer.from(data).toString('hex')}`,
  ) as unknown as [{ token: string; id: bigint; units?: bigint }[]];
  const rebates = (detail.fees as { percentage: bigint; to: string }[]).filter(({ to }) => to === buyer);
  return trade(entry, {
    isBid,
    seller,
    buyer,
    items: pairs.map(({ token, id, units = 1n }) => ({ contract: token.toLowerCase(), id, units })),
    price: detail.price - (detail.price * sum(rebates.map(({ percentage }) => percentage))) / 1_000_000n,
    currency,
  });
};

const cryptoPunks: Reader = (entry) => {
  const { name, fields, receipt, at, exchange, punkBids } = entry;
  if (name === 'punkBidEntered') punkBids.set(`${fields.punkIndex} ${fields.fromAddress}`, fields.value);
  if (name !== 'punkBought') return other(name);
  const { punkIndex, value, fromAddress: seller, toAddress } = fields;
  const items = one(exchange, punkIndex);
  if (toAddress !== ZERO && value === 0n) return noSale('`PunkBought` with a buyer and the price 0');
  if (toAddress !== ZERO)
    return trade(entry, { isBid: false, seller, buyer: toAddress, items, price: value, currency: ZERO });
  const sent = receipt.logs.slice(0, at).findLast((log) => {
    const read = log.address.toLowerCase() === exchange ? readEvent('cryptoPunks', log) : null;
    return read !== null && read !== 'malformed' && read.name === 'transfer' && read.fields.from === seller;
  });
  const buyer = sent ? `0x${(sent.topics[2] ?? '').slice(26)}` : null;
  const price = punkBids.get(`${punkIndex} ${buyer}`) ?? null;
  return trade(entry, { isBid: true, seller, buyer, items, price, currency: ZERO });
};

export const ATOMIC_MATCH =
  'function atomicMatch_(address[14] addrs, uint256[18] uints, uint8[8] kinds, bytes calldataBuy, bytes calldataSell, bytes patternBuy, bytes patternSell, bytes extraBuy, bytes extraSell, uint8[2] vs, bytes32[5] rss)';

const wyvern: Reader = (entry) => {
  const { name, fields, receipt, exchange } = entry;
  if (name !== 'ordersMatched') return other(name);
  const { maker, taker, price, sellHash } = fields;
  const before = movesBefore(entry);
  if (before.length === 0) return noSale('`OrdersMatched` before which no token of a followed contract moved');
  const held = before.filter(({ from, to }) => from !== ZERO && from !== to);
  if (held.length === 0) return noSale('`OrdersMatched` whose only transfer mints a token');
  const isSide = (account: string) => account === maker || account === taker;
  const isBid = BigInt(sellHash) === 0n;
  // An aggregator names itself as the taker, and lets the token go to its user.
  const candidates = [
    held.filter(({ from, to }) => isSide(from) && isSide(to)),
    held.filter(({ from, to }) => (isBid ? to : from) === maker),
    held.filter(({ from, to }) => isSide(from) || isSide(to)),
  ].find((found) => found.length > 0);
  const last = candidates?.at(-1);
  if (!candidates || !last) return unread('a match without a token');
  const moved = candidates.filter(({ from, to }) => from === last.from && to === last.to);
  // The currency of the order in the call data. A call names the exchange in both orders, and the accounts of the match.
  const calls = findCalls(receipt.input, ATOMIC_MATCH)
    .map(([addresses]: Fields) => addresses as string[])
    .filter((one) => one[0] === exchange && isSide(one[1] ?? '') && isSide(one[8] ?? ''));
  const currencies = new Set(calls.map((one) => one[13] ?? ZERO));
  return trade(entry, {
    isBid,
    seller: last.from,
    buyer: last.to,
    items: toItems(moved),
    price: currencies.size === 1 ? price : null,
    currency: [...currencies][0] ?? ZERO,
  });
};

const raribleV1: Reader = (entry) => {
  const {
    sellToken,
    sellTokenId,
    sellValue,
    owner,
    buyToken,
    buyTokenId,
    buyValue,
    buyer: taker,
    amount,
  } = entry.fields;
  const received = BigInt((buyValue * amount) / sellValue);
  const hasMoved = (contract: string, tokenId: bigint) =>
    entry.moves.some((move) => move.contract === contract && move.id === tokenId);
  const isSold = hasMoved(sellToken, sellTokenId);
  const isBought = buyToken !== ZERO && hasMoved(buyToken, buyTokenId);
  if (isSold && isBought) return noSale('`Buy` of two tokens that both moved');
  if (!isSold && !isBought && buyToken !== ZERO) return unread('an exchange without a token');
  const call = findCalls(entry.receipt.input, RARIBLE_EXCHANGE).find(
    ([order, , , , exchanged]: Fields) => order.key.owner === owner && exchanged === amount,
  );
  const price = isBought ? amount : received;
  // A fee is a number of hundredths of a percent: of the maker of a bid, of the taker of a listing.
  const fee = call ? (price * BigInt(isBought ? call[0].sellerFee : call[2])) / 10_000n : 0n;
  return isBought
    ? trade(entry, {
        isBid: true,
        seller: taker,
        buyer: owner,
        items: one(buyToken, buyTokenId, received),
        price: price + fee,
        currency: sellToken,
      })
    : trade(entry, {
        isBid: false,
        seller: owner,
        buyer: taker,
        items: one(sellToken, sellTokenId, amount),
        price: price + fee,
        currency: buyToken,
      });
};

const RARIBLE_ASSET = '(address token, uint256 tokenId, uint8 assetType)';
const SIGNATURE = '(uint8 v, bytes32 r, bytes32 s)';
export const RARIBLE_EXCHANGE = `function exchange(((address owner, uint256 salt, ${RARIBLE_ASSET} sellAsset, ${RARIBLE_ASSET} buyAsset) key, uint256 selling, uint256 buying, uint256 sellerFee) order, ${SIGNATURE} sig, uint256 buyerFee, ${SIGNATURE} buyerFeeSig, uint256 amount, address buyer) payable`;

const CLASSES: Readonly<Record<string, 'native' | 'erc20' | 'token'>> = Object.fromEntries(
  (
    [
      ['ETH', 'native'],
      ['ERC20', 'erc20'],
      ['ERC721', 'token'],
      ['ERC1155', 'token'],
    ] as const
  ).map(([name, kind]) => [keccak256(stringToBytes(name)).slice(0, 10), kind]),
);

const raribleV2: Reader = (entry) => {
  const { name, fields } = entry;
  if (name === 'matchWithoutAssets') return unread('a match without its assets');
  const { leftMaker, rightMaker, newLeftFill, newRightFill, leftAsset, rightAsset } = fields;
  const [left, right] = [CLASSES[leftAsset.assetClass], CLASSES[rightAsset.assetClass]];
  if (left === 'token' && right === 'token') return noSale('a `Match` of two tokens or of two currencies');
  if (left !== 'token' && right !== 'token' && left !== undefined && right !== undefined)
    return noSale('a `Match` of two tokens or of two currencies');
  if (left === undefined || right === undefined) return unread('an unknown kind of asset');
  const isBid = right === 'token';
  const [sold, paid] = isBid ? [rightAsset, leftAsset] : [leftAsset, rightAsset];
  const [contract, id] = decodeAbiParameters(parseAbiParameters('address, uint256'), sold.data);
  const currency = CLASSES[paid.assetClass] === 'native' ? ZERO : `0x${paid.data.slice(26, 66)}`;
  // What an order received is its fill.
  const [units, price] = isBid ? [newLeftFill, newRightFill] : [newRightFill, newLeftFill];
  const [seller, buyer] = isBid ? [rightMaker, leftMaker] : [leftMaker, rightMaker];
  return trade(entry, { isBid, seller, buyer, items: one(contract.toLowerCase(), id, units), price, currency });
};

const fromZeroEx = (currency: string) => (currency === NATIVE_OF_ZEROEX ? ZERO : currency);

const zeroExV4: Reader = (entry) => {
  const { name, fields, receipt } = entry;
  if (name.endsWith('OrderCancelled')) return other(name);
  const { direction, maker, taker, erc20Token, matcher } = fields;
  const isBid = direction === 1;
  const isMatched = matcher !== ZERO;
  const counterparty = isMatched ? null : taker;
  return trade(entry, {
    isBid,
    seller: isBid ? counterparty : maker,
    buyer: isBid ? maker : counterparty,
    items: one(
      fields.erc721Token ?? fields.erc1155Token,
      fields.erc721TokenId ?? fields.erc1155TokenId,
      fields.erc1155FillAmount ?? 1n,
    ),
    price: fields.erc20TokenAmount ?? fields.erc20FillAmount,
    currency: fromZeroEx(erc20Token),
    match: { hash: null, isMatched },
    marketplace: tagged(receipt),
  });
};

const ELEMENT_SIGNED =
  '(address maker, address taker, uint256 expiry, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, (address recipient, uint256 amount, bytes feeData)[] fees, address nft, uint256 nftId';
const ELEMENT_SIGNATURE = '(uint8 signatureType, uint8 v, bytes32 r, bytes32 s) signature';
export const ELEMENT_CALLS = {
  buyERC721: `function buyERC721(${ELEMENT_SIGNED}) order, ${ELEMENT_SIGNATURE}) payable`,
  sellERC721: `function sellERC721(${ELEMENT_SIGNED}, (address propertyValidator, bytes propertyData)[] nftProperties) order, ${ELEMENT_SIGNATURE}, uint256 nftId, bool unwrap, bytes data)`,
};

const element: Reader = (entry) => {
  const { at, exchange, name, fields, receipt } = entry;
  if (name.endsWith('OrderCancelled')) return other(name);
  const { maker, taker, erc20Token } = fields;
  const isBid = name.includes('Buy');
  const [contract, id] = [fields.erc721Token ?? fields.erc1155Token, fields.erc721TokenId ?? fields.erc1155TokenId];
  const amount = fields.erc20TokenAmount ?? fields.erc20FillAmount;
  // The exchange reports the two orders of a match one directly after the other.
  const pair = receipt.logs[at + (isBid ? -1 : 1)];
  const read = pair?.address === exchange ? readEvent('element', pair) : null;
  const isMatched =
    typeof read === 'object' &&
    read?.name === (isBid ? name.replace('Buy', 'Sell') : name.replace('Sell', 'Buy')) &&
    read.fields.maker === taker &&
    read.fields.taker === maker &&
    (read.fields.erc721TokenId ?? read.fields.erc1155TokenId) === id;
  const counterparty = isMatched ? null : taker;
  const order = name.endsWith('First')
    ? findCalls(receipt.input, isBid ? ELEMENT_CALLS.sellERC721 : ELEMENT_CALLS.buyERC721)
        .map(([signed]: Fields) => signed)
        .find(
          (signed: Fields) => signed.maker === maker && signed.nft === contract && signed.erc20TokenAmount === amount,
        )
    : null;
  return trade(entry, {
    isBid,
    seller: isBid ? counterparty : maker,
    buyer: isBid ? maker : counterparty,
    items: one(contract, id, fields.erc1155FillAmount ?? 1n),
    match: { hash: null, isMatched },
    price: amount + sum((order?.fees ?? []).map((fee: { amount: bigint }) => fee.amount)),
    currency: fromZeroEx(erc20Token),
  });
};

const paymentProcessorV1: Reader = (entry) => {
  const { tokenAddress, paymentCoin, buyer, ...fields } = entry.fields;
  const { at, exchange, receipt } = entry;
  const ids: bigint[] = fields.tokenIds ?? [fields.tokenId];
  const trades = ids.flatMap((id, index): Trade[] => {
    if (fields.unsuccessfulFills?.[index]) return [];
    const seller = fields.sellers?.[index] ?? fields.seller;
    const units = fields.amounts?.[index] ?? fields.amount ?? 1n;
    const price = fields.salePrices?.[index] ?? fields.salePrice;
    const terms = { seller, buyer, items: one(tokenAddress, id, units), price, currency: paymentCoin };
    return [{ at, exchange, marketplace: tagged(receipt), isBid: false, ...terms }];
  });
  return { kind: 'trades', trades };
};

const paymentProcessorV2: Reader = (entry) => {
  const { name, fields, receipt } = entry;
  if (name === 'nonceInvalidated' || name === 'orderDigestInvalidated')
    return fields.wasCancellation ? other(name) : noSale('the fill has an event of its own');
  const { seller, beneficiary, tokenAddress, tokenId, paymentCoin, salePrice, amount = 1n } = fields;
  return trade(entry, {
    isBid: name.startsWith('accept'),
    seller,
    buyer: beneficiary,
    items: one(tokenAddress, tokenId, amount),
    price: salePrice,
    currency: paymentCoin,
    marketplace: tagged(receipt),
  });
};

// Markets and auctions

const foundation: Reader = (entry) => {
  const { name, fields, exchange } = entry;
  const { nftContract, tokenId, seller, buyer, bidder } = fields;
  const price = fields.sellerRev + (fields.creatorRev ?? fields.creatorFee) + (fields.totalFees ?? fields.protocolFee);
  if (name !== 'reserveAuctionFinalized')
    return trade(entry, {
      isBid: name === 'offerAccepted',
      seller,
      buyer,
      items: one(nftContract, tokenId),
      price,
      currency: ZERO,
    });
  const sent = movesBefore(entry)
    .filter(({ from, to }) => from === exchange && to === bidder)
    .slice(-1);
  if (sent.length === 0) return unread('an auction without a token');
  return trade(entry, { isBid: false, seller, buyer: bidder, items: toItems(sent), price, currency: ZERO });
};

const MEDIA = '0xabefbc9fd2f806065b4f3c237d4b59d9a97bcac7';
const ZORA_AUCTIONS = '0xe468ce99444174bd3bbbed09209577d25d1ad673';
const zoraV1: Reader = (entry) => {
  const { name, fields, receipt, moves } = entry;
  if (name === 'bidFinalized') {
    const { tokenId, bid } = fields;
    if (bid.bidder === ZORA_AUCTIONS) return noSale('`BidFinalized` of a bid of an auction house');
    const seller = moves.find(
      ({ contract, id, to }) => contract === MEDIA && id === tokenId && to === bid.recipient,
    )?.from;
    const terms = { items: one(MEDIA, tokenId), price: bid.amount, currency: bid.currency };
    return trade(entry, { isBid: true, seller: seller ?? null, buyer: bid.recipient, ...terms });
  }
  const { tokenId, tokenContract, tokenOwner, winner, amount, curatorFee, auctionCurrency } = fields;
  const bids = receipt.logs.flatMap((log) => {
    const read = readEvent('zoraV1', log);
    return read !== null && read !== 'malformed' && read.name === 'bidFinalized' ? [read.fields] : [];
  });
  const full = bids.find(
    ({ tokenId: id, bid }) => tokenContract === MEDIA && id === tokenId && bid.bidder === entry.exchange,
  );
  const price = full ? full.bid.amount : amount + curatorFee;
  return trade(entry, {
    isBid: false,
    seller: tokenOwner,
    buyer: winner,
    items: one(tokenContract, tokenId),
    price,
    currency: auctionCurrency,
  });
};

const zoraV3: Reader = (entry) => {
  const { name, fields } = entry;
  const items = one(fields.tokenContract, fields.tokenId);
  const { ask, offer, auction } = fields;
  if (offer) {
    const terms = { seller: fields.taker, buyer: offer.maker, price: offer.amount, currency: offer.currency };
    return trade(entry, { isBid: true, items, ...terms });
  }
  if (auction) {
    const { seller, highestBid: price, highestBidder: buyer, currency = ZERO } = auction;
    return trade(entry, { isBid: false, items, seller, buyer, price, currency });
  }
  if (name === 'nativeAskFilled')
    return trade(entry, {
      isBid: false,
      items,
      seller: fields.seller,
      buyer: fields.buyer,
      price: fields.price,
      currency: ZERO,
    });
  const terms = { seller: ask.seller, buyer: ask.buyer ?? fields.buyer, price: ask.askPrice ?? ask.price };
  return trade(entry, { isBid: false, items, ...terms, currency: ask.askCurrency ?? ZERO });
};

const superRare: Reader = (entry) => {
  const { name, fields, exchange } = entry;
  if (name === 'tokenTransfer') return other(name);
  const { _seller, _amount, _tokenId, _currencyAddress = ZERO } = fields;
  const contract = fields._originContract ?? fields._contractAddress ?? exchange;
  const buyer = fields._buyer ?? fields._bidder;
  if (buyer === ZERO) return noSale('`AuctionSettled` without a bidder');
  const isBid = name.endsWith('Accepted');
  return trade(entry, {
    isBid,
    seller: _seller,
    buyer,
    items: one(contract, _tokenId),
    price: _amount,
    currency: _currencyAddress,
  });
};

const manifold: Reader = (entry) => {
  const { name, fields, exchange, receipt } = entry;
  if (name === 'listingFinalized') return unread('an auction without its bid');
  const buyer = fields.buyer ?? fields.oferrer;
  const sent = movesBefore(entry).filter(({ from, to }) => to === buyer && (from === exchange || from === ZERO));
  const contract = sent.at(-1)?.contract;
  if (contract === undefined) return unread('a listing without a token');
  const isPaid = name === 'purchase' && BigInt(receipt.value ?? 0) >= fields.amount;
  const items = toItems(sent.filter((move) => move.contract === contract));
  return trade(entry, {
    isBid: true,
    seller: null,
    buyer,
    items,
    price: isPaid ? fields.amount : null,
    currency: ZERO,
  });
};

const nouns: Reader = (entry) => {
  const { fields, exchange } = entry;
  const { nounId, winner, amount: price } = fields;
  if (winner === ZERO) return noSale('`AuctionSettled` without a bidder');
  const sent = movesBefore(entry)
    .filter(({ from, to, id }) => from === exchange && to === winner && id === nounId)
    .slice(-1);
  if (sent.length === 0) return unread('an auction without a token');
  const marketplace = exchange === LIL_NOUNS ? 'lil-nouns' : 'nouns';
  return trade(entry, {
    isBid: false,
    seller: exchange,
    buyer: winner,
    items: toItems(sent),
    price,
    currency: ZERO,
    marketplace,
  });
};

// Pools

const nftx: Reader = (entry) => {
  const { name, fields, exchange } = entry;
  const before = movesBefore(entry);
  const { to: account } = fields;
  const count = fields.count ?? BigInt(fields.nftIds.length);
  const unknown = unread('the tokens of a vault are not all in the logs');
  if (name === 'buy') {
    const last = before.findLast(({ to }) => to === account);
    const redeemed = before.filter(
      ({ contract, from, to, id }) =>
        contract === last?.contract && from === last.from && to === account && (fields.nftIds?.includes(id) ?? true),
    );
    if (!last || sum(redeemed.map(({ units }) => units)) !== count) return unknown;
    const price = exchange === ZAP_OF_ZEROEX ? null : fields.ethSpent;
    return trade(entry, {
      isBid: false,
      seller: last.from,
      buyer: account,
      items: toItems(redeemed),
      price,
      currency: ZERO,
    });
  }
  const last = before.findLast(({ to }) => to !== exchange && to !== account);
  const deposited = before.filter(({ contract, to }) => contract === last?.contract && to === last.to);
  if (!last || sum(deposited.map(({ units }) => units)) !== count) return unknown;
  const first = before.find(({ contract }) => contract === last.contract);
  const price = fields.ethReceived + (fields.netRoyaltyAmount ?? 0n) + (fields.wethFees ?? 0n);
  return trade(entry, {
    isBid: true,
    seller: first?.from ?? last.from,
    buyer: last.to,
    items: toItems(deposited),
    price: price <= count ? null : price,
    currency: ZERO,
  });
};

/** A swap of a pool of Sudoswap: `pool` is what the code of the contract says. */
const sudoswap = (entry: Entry, pool: PoolFacts): Reading => {
  const { name, fields, exchange, receipt, at } = entry;
  const isBid = name.includes('In');
  const previous = receipt.logs.findLastIndex(
    (log, index) => index < at && (readEvent('sudoswapV1', log) ?? readEvent('sudoswapV2', log)) !== null,
  );
  const moved = entry.moves.filter(
    (move) =>
      move.contract === pool.collection && move.at > previous && move.at < at && (move.from === exchange) !== isBid,
  );
  const price = pool.version === 1 ? null : (fields.amountIn ?? fields.amountOut);
  const ids: bigint[] | null = fields.ids ?? null;
  const last = moved.at(-1);
  if (!last) return other('a swap without a token');
  const ofSwap = moved.filter((move) => ids === null || ids.includes(move.id));
  // The pool takes its tokens one after the other, after a router has taken them from the seller.
  const trailing = isBid ? ofSwap.slice(ofSwap.findLastIndex(({ to }) => to !== last.to) + 1) : ofSwap;
  return trade(entry, {
    isBid,
    seller: isBid ? last.from : exchange,
    buyer: last.to,
    items: toItems(trailing),
    price,
    currency: pool.currency,
  });
};

export const PROTOCOLS: readonly Protocol[] = [
  protocol('seaport', 'seaport', null, seaport, [
    '0x00000000006c3852cbef3e08e8df289169ede581',
    '0x00000000000001ad428e4906ae43d8f9852d0dd6',
    '0x00000000000000adc04c56bf30ac9d3c0aaf14dc',
    '0x0000000000000068f116a894984e2db1123eb395',
  ]),
  protocol('seaport-forks', 'seaport', null, seaport, Object.keys(FORKS)),
  protocol('blur-v1', 'blurV1', 'blur', blurV1),
  protocol('blur-v2', 'blurV2', 'blur', blurV2),
  protocol('blend', 'blend', 'blur', blend),
  protocol('looksrare-v1', 'looksRareV1', 'looksrare', looksRareV1),
  protocol('looksrare-v2', 'looksRareV2', 'looksrare', looksRareV2),
  protocol('x2y2', 'x2y2', 'x2y2', x2y2),
  protocol('cryptopunks', 'cryptoPunks', 'larvalabs', cryptoPunks),
  protocol('wyvern', 'wyvern', 'opensea', wyvern, [
    '0x7be8076f4ea4a4ad08075c2508e481d6c946d12b',
    '0x7f268357a8c2552623316e2562d90e642bb538e5',
  ]),
  protocol('foundation', 'foundation', 'foundation', foundation),
  protocol('zora-v1', 'zoraV1', 'zora', zoraV1, [AT.zoraV1, ZORA_AUCTIONS]),
  protocol('zora-v3', 'zoraV3', 'zora', zoraV3, [
    '0xce6cef2a9028e1c3b21647ae3b4251038109f42a',
    '0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3',
    '0x34aa9cbb80dc0b3d82d04900c02fb81468dafcab',
    '0xfbf87e6c2c242d0166e2ddb60db5a94cd4dae00e',
    '0x76744367ae5a056381868f716bdf0b13ae1aeaa3',
    '0x5f7072e1fa7c01dfac7cf54289621afaad2184d0',
    '0x53172d999a299198a935f9e424f9f8544e3d4292',
    '0x9458e29713b98bf452ee9b2c099289f533a5f377',
    '0xd1adaf05575295710de1145c3c9427c364a70a7f',
    '0x1e58be778acae2744c1185ea1ce542f304860b96',
    '0x1e009dec13a2a441b3aa133bd320ff5b16b22e71',
  ]),
  protocol('rarible-v2', 'raribleV2', 'rarible', raribleV2),
  protocol('zeroex-v4', 'zeroExV4', null, zeroExV4),
  protocol('payment-processor-v1', 'paymentProcessorV1', null, paymentProcessorV1),
  protocol('payment-processor-v2', 'paymentProcessorV2', null, paymentProcessorV2, [
    '0x9a1d00bed7cd04bcda516d721a596eb22aac6834',
    '0x9a1d001670c8b17f8b7900e8d7a41e785b3f0515',
    '0x9a1d00000000fc540e2000560054812452eb5366',
  ]),
  protocol('element', 'element', 'element', element),
  protocol('rarible-v1', 'raribleV1', 'rarible', raribleV1),
  protocol('superrare', 'superRare', 'superrare', superRare, [
    '0x41a322b28d0ff354040e2cbc676f0320d8c8850d',
    '0x2947f98c42597966a0ec25e92843c09ac17fbaa7',
    '0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c',
    '0x8c9f364bf7a56ed058fc63ef81c6cf09c833e656',
    '0x6d7c44773c52d396f43c2d511b81aa168e9a7a42',
  ]),
  protocol('nftx-v2', 'nftxV2', 'nftx', nftx, [AT.nftxV2, ZAP_OF_ZEROEX]),
  protocol('nftx-v3', 'nftxV3', 'nftx', nftx),
  protocol('manifold', 'manifold', 'manifold', manifold, [AT.manifold, '0x5246807fb65d87b0d0a234e0f3d42374de83b421']),
  protocol('nouns', 'nouns', null, nouns, [AT.nouns, LIL_NOUNS]),
];

function protocol(
  name: string,
  events: EventSet,
  marketplace: string | null,
  read: Reader,
  contracts: readonly string[] = [AT[events]],
): Protocol {
  return { name, events, marketplace, contracts, read };
}

const BY_CONTRACT = new Map(PROTOCOLS.flatMap((one) => one.contracts.map((contract) => [contract, one] as const)));

/** Reads one log. Null for a log of a contract that settles nothing, and for an event that docs/protocols.md does not name. */
export function readLog(known: Known, at: number): (Reading & { protocol: string }) | null {
  const log = known.receipt.logs[at];
  if (!log) return null;
  const exchange = log.address.toLowerCase();
  const entry = { ...known, log, at, exchange };
  const pool = known.pools.get(exchange);
  if (pool) {
    const read = readEvent(pool.version === 1 ? 'sudoswapV1' : 'sudoswapV2', log);
    if (read === null || read === 'malformed') return null;
    const found = sudoswap({ ...entry, ...read }, pool);
    return { ...withMarketplace(found, 'sudoswap'), protocol: `sudoswap-v${pool.version}` };
  }
  const found = BY_CONTRACT.get(exchange);
  const read = found && readEvent(found.events, log);
  if (!found || read === null || read === undefined) return null;
  if (read === 'malformed') return { ...unread('not the form of its event'), protocol: found.name };
  return { ...withMarketplace(found.read({ ...entry, ...read }), found.marketplace), protocol: found.name };
}

function withMarketplace(reading: Reading, marketplace: string | null): Reading {
  if (reading.kind !== 'trades') return reading;
  return { ...reading, trades: reading.trades.map((one) => ({ ...one, marketplace: one.marketplace ?? marketplace })) };
}
