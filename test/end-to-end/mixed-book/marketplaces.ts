// Two marketplaces on the replay server that list one collection. The rows of OpenSea contain the parameters of the order. The rows of
// Magic Eden are asks, alternately in the current and in the older format. Each row is made from a fixture and the terms of a given order.

import type { Address, Hex } from 'viem';
import { getAddress, zeroAddress } from 'viem';
import type { SeaportOrder } from '../../../client/src/seaport.ts';
import { askRow } from '../../support/replay/magic-eden.ts';
import { parseFixture } from '../../support/fixtures.ts';
import { makeCollection, openseaRoutes } from '../../support/replay/opensea.ts';
import type { Route } from '../../support/replay/replay.ts';

type Json = Record<string, any>;

export type MarketplaceListing = {
  hash: Hex;
  components: SeaportOrder;
  /** In seconds. */
  listedAt: number;
  /** What a buyer pays now. Set for an order whose price changes with time. Otherwise a buyer pays the sum of the consideration. */
  priceNow?: bigint;
  /** OpenSea's status. Magic Eden serves active listings only. */
  status?: 'ACTIVE' | 'INACTIVE' | 'FULFILLED' | 'CANCELLED';
};

export type Marketplace = {
  /** The listings by order hash. The marketplace serves them in the sequence in which they were added to the map. */
  listings: Map<Hex, MarketplaceListing>;
  /** Listings that the marketplace has stopped serving although they had no final status. */
  gone: MarketplaceListing[];
  /** Rows that must not become listings. The marketplace serves them between the rows of its listings. */
  unusable: unknown[];
  /** When set, the marketplace serves only the listings that this function returns. */
  served: ((listings: MarketplaceListing[]) => MarketplaceListing[]) | null;
};

export type Marketplaces = { slug: string; contract: Address; opensea: Marketplace; magicEden: Marketplace };

const SYMBOLS = { native: 'ETH', wrapped: 'WETH' };

export function createMarketplaces(slug: string, contract: Address): Marketplaces {
  const create = (): Marketplace => ({ listings: new Map(), gone: [], unusable: [], served: null });
  return { slug, contract, opensea: create(), magicEden: create() };
}

export function servedBy({ listings, served }: Marketplace): MarketplaceListing[] {
  const all = [...listings.values()];
  return served ? served(all) : all;
}

export function marketplaceRoutes(marketplaces: Marketplaces): Route[] {
  const { slug, contract, opensea, magicEden } = marketplaces;
  const made = makeCollection({ slug, contract, chain: 'ethereum', symbol: SYMBOLS.native, tokens: ['1', '2', '3'] });
  return [
    {
      path: new RegExp(`/api/v2/listings/collection/${slug}/all`),
      origin: 'recorded rows',
      paging: { parameter: 'next', nextField: 'next' },
      answer: ({ query }) => {
        const { rows, next } = toPage(
          toRows(opensea, toOpenSeaRow),
          query.get('next'),
          Number(query.get('limit') ?? 20),
        );
        return { listings: rows, ...(next !== null && { next }) };
      },
    },
    ...openseaRoutes([made]),
    {
      path: /\/v4\/evm-public\/orders\/asks/,
      origin: 'recorded rows',
      paging: { parameter: 'continuation', nextField: 'continuation' },
      answer: ({ query }) => {
        if (query.get('collectionId') !== contract || query.get('chain') !== 'ethereum') return { asks: [] };
        const toRow = (listing: MarketplaceListing, index: number) =>
          index % 2 === 0 ? toAskRow(listing) : toOlderAskRow(listing);
        const from = query.get('continuation');
        const { rows, next } = toPage(toRows(magicEden, toRow), from, Number(query.get('limit') ?? 20));
        return { asks: rows, ...(next !== null && { continuation: next }) };
      },
    },
  ];
}

function toRows(marketplace: Marketplace, toRow: (listing: MarketplaceListing, index: number) => unknown): unknown[] {
  const rows = servedBy(marketplace).map(toRow);
  const gap = Math.max(1, Math.floor(rows.length / (marketplace.unusable.length + 1)));
  for (const [index, unusable] of marketplace.unusable.entries())
    rows.splice(Math.min(rows.length, (index + 1) * gap), 0, unusable);
  return rows;
}

function toPage(rows: readonly unknown[], cursor: string | null, limit: number) {
  const start = cursor === null ? 0 : Number(Buffer.from(cursor, 'base64url').toString());
  const end = start + limit;
  const next = end < rows.length ? Buffer.from(String(end)).toString('base64url') : null;
  return { rows: rows.slice(start, end), next };
}

export function sumOf({ consideration }: SeaportOrder, end: 'startAmount' | 'endAmount' = 'startAmount'): bigint {
  return consideration.reduce((sum, item) => sum + item[end], 0n);
}

export function priceOf({ components, priceNow }: MarketplaceListing): bigint {
  return priceNow ?? sumOf(components);
}

export function tokenOf({ components }: Pick<MarketplaceListing, 'components'>): string {
  return (components.offer[0]?.identifierOrCriteria ?? 0n).toString();
}

const { parameters } = parseFixture('opensea/orders-2023.json').orders[0].protocol_data;

export function toOpenSeaRow(listing: MarketplaceListing): Json {
  const { hash, components, listedAt, status = 'ACTIVE' } = listing;
  const [offer] = components.offer;
  const [payment] = components.consideration;
  const symbol = payment?.token === zeroAddress ? SYMBOLS.native : SYMBOLS.wrapped;
  const contract = offer?.token ?? zeroAddress;
  const wire = JSON.parse(
    JSON.stringify(components, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  ) as Json;
  return {
    order_hash: hash,
    chain: 'ethereum',
    protocol_data: {
      parameters: {
        ...parameters,
        ...wire,
        // OpenSea writes addresses with checksums, and the counter in hexadecimal.
        offer: wire['offer'].map((item: Json) => ({ ...item, token: getAddress(item['token']) })),
        counter: `0x${components.counter.toString(16)}`,
        totalOriginalConsiderationItems: components.consideration.length,
      },
      signature: null,
    },
    protocol_address: '0x0000000000000068f116a894984e2db1123eb395',
    asset: { identifier: tokenOf(listing), contract },
    remaining_quantity: 1,
    order_created_at: listedAt,
    price: { current: { currency: symbol, decimals: 18, value: priceOf(listing).toString() } },
    type: 'basic',
    status,
  };
}

/** An ask in the shape of the vendor's current API document. */
export function toAskRow(listing: MarketplaceListing): Json {
  const { hash, components, listedAt } = listing;
  const [offer] = components.offer;
  return askRow(0, offer?.token ?? zeroAddress, {
    id: hash,
    maker: components.offerer,
    price: { amount: { raw: priceOf(listing).toString() }, currency: currencyOf(components) },
    expiry: { validFrom: toIso(components.startTime), validUntil: toIso(components.endTime) },
    createdAt: toIso(BigInt(listedAt)),
    assetId: `${offer?.token}:${tokenOf(listing)}`,
  });
}

const [OLDER_ASK] = parseFixture('magic-eden/asks-v3.json').orders;

/** An ask in the shape of the older interface, with the terms of the order. */
function toOlderAskRow(listing: MarketplaceListing): Json {
  const { hash, components, listedAt } = listing;
  const contract = components.offer[0]?.token ?? zeroAddress;
  const raw = priceOf(listing).toString();
  const amount = { raw, decimal: Number(raw) / 1e18, usd: null, native: Number(raw) / 1e18 };
  return {
    ...OLDER_ASK,
    id: hash,
    kind: 'seaport-v1.6',
    side: 'sell',
    status: 'active',
    tokenSetId: `token:${contract}:${tokenOf(listing)}`,
    contract,
    contractKind: 'erc721',
    maker: getAddress(components.offerer),
    price: { currency: currencyOf(components), amount, netAmount: amount },
    validFrom: Number(components.startTime),
    validUntil: Number(components.endTime),
    criteria: { kind: 'token', data: { token: { tokenId: tokenOf(listing) } } },
    source: { domain: 'magiceden.io', name: 'Magic Eden' },
    expiration: Number(components.endTime),
    createdAt: toIso(BigInt(listedAt)),
  };
}

function currencyOf({ consideration }: SeaportOrder): Json {
  const contract = consideration[0]?.token ?? zeroAddress;
  const symbol = contract === zeroAddress ? SYMBOLS.native : SYMBOLS.wrapped;
  return { contract, name: symbol, symbol, decimals: 18 };
}

function toIso(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString();
}
