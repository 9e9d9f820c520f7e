// OpenSea's API v2 for the replay server. It serves the collections of a test in the shapes of the fixtures. If the recordings are present,
// requests for the recorded paths get the recorded responses. test/recordings/opensea.test.ts checks the shapes against the vendor's
// document.

import type { TokenStandard } from '../../../src/platform/core/evm.ts';
import { parseFixture } from '../fixtures.ts';
import { recordedRoutes } from '../recordings/payloads.ts';
import type { Route } from './replay.ts';
import { ReplayResponse } from './replay.ts';

export const APES = { slug: 'ape-things', contract: `0x${'a9'.repeat(20)}` };
const OPENSEA_FEE = '0x0000a26b00c1f0df003000390027140000faa719';
const NO_ADDRESS = '0x0000000000000000000000000000000000000000';

export type ServedListing = {
  tokenId: string;
  seller: string;
  /** The sum of the order's payments, in base units. */
  total: bigint;
  hash: string;
  quantity?: number;
  /** The currency of the payments. By default the chain's native currency. */
  currency?: { token: string; symbol: string; decimals: number };
  contract?: string;
  listedAt?: number;
  status?: string;
  type?: string;
};

/** An offer for any token of the collection. `total`: what the bidder pays for all units, in base units. */
export type ServedOffer = { bidder: string; total: bigint; hash: string; quantity?: number; madeAt?: number };

export type ServedSale = {
  tokenId: string;
  raw: bigint;
  tx: string;
  soldAt: number;
  quantity?: number;
  currency?: { token: string; symbol: string; decimals: number };
};

/** A collection that tests may change while it is served. */
export type ServedCollection = {
  slug: string;
  contract: string;
  chain: string;
  standard?: TokenStandard;
  symbol: string;
  listings: ServedListing[];
  offers?: ServedOffer[];
  sales: ServedSale[];
  tokens: string[];
  /** The floor, as it is written in the response. */
  floorText?: string;
  createdText?: string;
};

export const makeHash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
export const makeAddress = (number: number) => `0x${number.toString(16).padStart(40, 'e')}`;

export function makeCollection(part: Partial<ServedCollection> = {}): ServedCollection {
  return { ...APES, chain: 'ape_chain', symbol: 'APE', listings: [], sales: [], tokens: [], ...part };
}

/** The routes of the recorded responses, and after them the routes of these collections. */
export function openseaRoutes(collections: readonly ServedCollection[] = []): Route[] {
  const bySlug = (slug: string | undefined) => collections.find((one) => one.slug === slug);
  const byContract = (groups: Readonly<Record<string, string>>) =>
    collections.find((one) => one.chain === groups['chain'] && one.contract === groups['address']);
  const paging = { parameter: 'next', nextField: 'next' };
  return [
    ...recordedRoutes('opensea'),
    {
      path: /\/api\/v2\/chain\/(?<chain>[^/]+)\/contract\/(?<address>[^/]+)/,
      origin: 'schema',
      answer: ({ groups }) => {
        const served = byContract(groups);
        return served ? toContract(served) : new ReplayResponse(404);
      },
    },
    {
      path: /\/api\/v2\/collections\/(?<slug>[^/]+)/,
      origin: 'schema',
      answer: ({ groups }) => {
        const served = bySlug(groups['slug']);
        return served ? toCollection(served) : new ReplayResponse(404);
      },
    },
    {
      path: /\/api\/v2\/collections\/(?<slug>[^/]+)\/stats/,
      origin: 'schema',
      answer: ({ groups }) => {
        const served = bySlug(groups['slug']);
        return served ? toStats(served) : new ReplayResponse(404);
      },
    },
    {
      path: /\/api\/v2\/listings\/collection\/(?<slug>[^/]+)\/(?<order>all|best)/,
      origin: 'schema',
      paging,
      answer: ({ groups, query }) => {
        const served = bySlug(groups['slug']);
        if (!served) return new ReplayResponse(404);
        const sorted = served.listings.toSorted((a, b) => (a.total < b.total ? -1 : 1));
        const rows = groups['order'] === 'best' ? sorted : served.listings;
        return toPage(
          'listings',
          rows.map((listing) => toListing(listing, served)),
          query,
        );
      },
    },
    {
      path: /\/api\/v2\/offers\/collection\/(?<slug>[^/]+)\/all/,
      origin: 'schema',
      paging,
      answer: ({ groups, query }) => {
        const served = bySlug(groups['slug']);
        if (!served) return new ReplayResponse(404);
        const { offers = [] } = served;
        return toPage(
          'offers',
          offers.map((offer) => toOffer(offer, served)),
          query,
        );
      },
    },
    {
      path: /\/api\/v2\/events\/collection\/(?<slug>[^/]+)/,
      origin: 'schema',
      paging,
      answer: ({ groups, query }) => {
        const served = bySlug(groups['slug']);
        if (!served) return new ReplayResponse(404);
        const after = Number(query.get('after') ?? 0);
        const sales = served.sales.filter((sale) => sale.soldAt > after).toSorted((a, b) => b.soldAt - a.soldAt);
        return toPage(
          'asset_events',
          sales.map((sale) => toSale(sale, served)),
          query,
        );
      },
    },
    {
      path: /\/api\/v2\/chain\/(?<chain>[^/]+)\/contract\/(?<address>[^/]+)\/nfts/,
      origin: 'schema',
      paging,
      answer: ({ groups, query }) => {
        const served = byContract(groups);
        if (!served) return new ReplayResponse(404);
        return toPage(
          'nfts',
          served.tokens.map((token) => toNft(token, served)),
          query,
        );
      },
    },
    {
      path: /\/api\/v2\/chain\/(?<chain>[^/]+)\/contract\/(?<address>[^/]+)\/nfts\/(?<token>[^/]+)/,
      origin: 'schema',
      answer: ({ groups }) => {
        const served = byContract(groups);
        const token = served?.tokens.find((one) => one === groups['token']);
        return served && token ? { nft: toDetailedNft(token, served) } : new ReplayResponse(404);
      },
    },
  ];
}

/** One page of rows. It has a paging cursor if more rows follow. */
function toPage(name: string, rows: readonly unknown[], query: URLSearchParams): Record<string, unknown> {
  const limit = Number(query.get('limit') ?? 20);
  const cursor = query.get('next');
  const start = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64url').toString().replace('at-', '')) || 0;
  const end = start + limit;
  const next = end < rows.length ? { next: Buffer.from(`at-${end}`).toString('base64url') } : {};
  return { [name]: rows.slice(start, end), ...next };
}

const CONTRACT = parseFixture('opensea/contract.json');
const COLLECTION = parseFixture('opensea/collection.json');
const [LISTING] = parseFixture('opensea/listings.json').listings;
const [OFFER] = parseFixture('opensea/offers.json').offers;
const [SALE] = parseFixture('opensea/events.json').asset_events;
const { nft: NFT } = parseFixture('opensea/nft.json');
const [LISTED_NFT] = parseFixture('opensea/nfts.json').nfts;

function toContract({ contract, chain, slug, standard = 'erc721' }: ServedCollection): unknown {
  return { ...CONTRACT, address: contract, chain, collection: slug, contract_standard: standard };
}

function toCollection({ slug, contract, chain, symbol, tokens, createdText }: ServedCollection): unknown {
  const { listing_currency: currency } = COLLECTION.pricing_currencies;
  return {
    ...COLLECTION,
    collection: slug,
    opensea_url: `https://opensea.io/collection/${slug}`,
    contracts: [{ address: contract, chain }],
    total_supply: tokens.length,
    unique_item_count: tokens.length,
    ...(createdText !== undefined && { created_date: createdText }),
    pricing_currencies: {
      listing_currency: { ...currency, chain, symbol, name: symbol },
      offer_currency: { ...currency, chain, symbol: `W${symbol}`, name: symbol },
    },
  };
}

/** Returns text, because parsed JSON would not keep the floor as the test wrote it. */
function toStats({ symbol, listings, sales, floorText = '0.01569' }: ServedCollection): string {
  const interval = (name: string) => ({ interval: name, volume: 0.1258, sales: sales.length });
  const total = {
    volume: 46.07304008849007,
    sales: sales.length,
    num_owners: new Set(listings.map((one) => one.seller)).size,
    floor_price: '@floor',
    floor_price_symbol: symbol,
  };
  const answer = { total, intervals: [interval('one_day'), interval('seven_day'), interval('thirty_day')] };
  return JSON.stringify(answer).replace('"@floor"', floorText);
}

function toListing(listing: ServedListing, served: ServedCollection): unknown {
  const { tokenId, seller, total, hash, quantity = 1, listedAt = 1_763_000_000, status = 'ACTIVE' } = listing;
  const { token, symbol, decimals } = listing.currency ?? { token: NO_ADDRESS, symbol: served.symbol, decimals: 18 };
  const fee = total / 100n;
  const pay = (recipient: string, amount: bigint) => ({
    itemType: token === NO_ADDRESS ? 0 : 1,
    token,
    identifierOrCriteria: '0',
    startAmount: amount.toString(),
    endAmount: amount.toString(),
    recipient,
  });
  const contract = listing.contract ?? served.contract;
  const { protocol_data: data } = LISTING;
  return {
    ...LISTING,
    order_hash: hash,
    chain: served.chain,
    protocol_data: {
      ...data,
      parameters: {
        ...data.parameters,
        offerer: seller,
        offer: [
          {
            itemType: served.standard === 'erc1155' ? 3 : 2,
            token: contract,
            identifierOrCriteria: tokenId,
            startAmount: String(quantity),
            endAmount: String(quantity),
          },
        ],
        consideration: [pay(seller, total - fee), pay(OPENSEA_FEE, fee)],
        startTime: String(listedAt),
        endTime: String(listedAt + 86_400 * 180),
      },
    },
    asset: { identifier: tokenId, contract },
    remaining_quantity: quantity,
    order_created_at: listedAt,
    price: { current: { currency: symbol, decimals, value: total.toString() } },
    type: listing.type ?? 'basic',
    status,
  };
}

/** The payment token of the fixture is the wrapped native currency of ApeChain. */
function toOffer(
  { bidder, total, hash, quantity = 1, madeAt = 1_763_000_000 }: ServedOffer,
  served: ServedCollection,
): unknown {
  const { parameters } = OFFER.protocol_data;
  const [payment] = parameters.offer;
  const [wanted, fee] = parameters.consideration;
  const ofAmount = (item: object, amount: bigint) => ({
    ...item,
    startAmount: amount.toString(),
    endAmount: amount.toString(),
  });
  const units = BigInt(quantity);
  return {
    ...OFFER,
    order_hash: hash,
    chain: served.chain,
    protocol_data: {
      parameters: {
        ...parameters,
        offerer: bidder,
        offer: [ofAmount(payment, total)],
        consideration: [
          { ...ofAmount(wanted, units), token: served.contract, recipient: bidder },
          ofAmount(fee, (total / 100n / units) * units),
        ],
        startTime: String(madeAt),
        endTime: String(madeAt + 86_400 * 365 * 20),
      },
    },
    criteria: { collection: { slug: served.slug }, contract: { address: served.contract }, encoded_token_ids: '*' },
    remaining_quantity: quantity,
    order_created_at: madeAt,
    price: { ...OFFER.price, value: total.toString() },
  };
}

function toSale(sale: ServedSale, served: ServedCollection): unknown {
  const { token, symbol, decimals } = sale.currency ?? { token: NO_ADDRESS, symbol: served.symbol, decimals: 18 };
  return {
    ...SALE,
    event_timestamp: sale.soldAt,
    transaction: sale.tx,
    order_hash: makeHash(sale.soldAt),
    chain: served.chain,
    payment: { quantity: sale.raw.toString(), token_address: token, decimals, symbol },
    closing_date: sale.soldAt,
    seller: makeAddress(1),
    buyer: makeAddress(2),
    quantity: sale.quantity ?? 1,
    nft: toNft(sale.tokenId, served),
  };
}

function toNft(identifier: string, { slug, contract, standard = 'erc721' }: ServedCollection): Record<string, unknown> {
  return {
    ...LISTED_NFT,
    identifier,
    collection: slug,
    contract,
    token_standard: standard,
    name: `Thing #${identifier}`,
    image_url: `https://pictures.example/${identifier}.png`,
    display_image_url: `https://pictures.example/${identifier}-small.png`,
    metadata_url: `ipfs://things/${identifier}`,
    opensea_url: `https://opensea.io/item/${identifier}`,
  };
}

function toDetailedNft(identifier: string, served: ServedCollection): unknown {
  return { ...NFT, ...toNft(identifier, served) };
}
