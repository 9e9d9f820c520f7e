// Reads listings, tokens, bids and the status of a service over HTTP (`/v1`, `/explore/v1` and `/status`). Lists are read with all their pages.

import { setTimeout as delay } from 'node:timers/promises';

/** The fields of a listing that the oracle compares. */
export type ServedListing = {
  orderId: string;
  /** Null for a listing of the own order book, else the name of the marketplace. */
  source: string | null;
  tokenId: string;
  seller: string | null;
  price: bigint;
  /** Milliseconds. */
  expiresAt: number | null;
};

/** `isComplete`: false if the service reports that it could not read a source. */
export type ServedListings = { rows: ServedListing[]; isComplete: boolean };

/** The fields of a bid that the oracle compares. `key`: the hash of the order. Amounts are for one unit. */
export type ServedBid = { key: string; bidder: string; price: bigint; proceeds: bigint; remaining: bigint };

export type ServedTopBid = { orderId: string; proceeds: bigint };

export type ServedToken = { owner: string | null; listing: ServedListing | null };

export type ServedStatus = { chains: { chain: string; block: number | null; note: string | null }[] };

export type ServedApi = {
  listings(collectionId: string): Promise<ServedListings>;
  /** Null for a token that is unknown to the service. */
  token(chain: string, contract: string, tokenId: string): Promise<ServedToken | null>;
  /** The active bids of the own order book for a collection, the best one first. */
  bids(collectionId: string): Promise<ServedBid[]>;
  /** The top bid for any token of a collection, and for each of the tokens that the service knows. */
  topBids(collectionId: string, tokenIds: readonly string[]): Promise<ServedTopBids>;
  status(): Promise<ServedStatus>;
};

export type ServedTopBids = { tokenId: bigint | null; top: ServedTopBid | null }[];

/** The most assets that `/v1` lists for one collection. */
export const WINDOW_SIZE = 250;

const PAGE_SIZE = 100;
const PAGES_MAX = 10;
const BID_PAGES_MAX = 500;
const TIMEOUT_MS = 30_000;
/** The most repetitions of a request that gets a 429. */
const REPEATS_MAX = 5;
const NOT_FOUND = 404;
const TOO_MANY = 429;

/** `headers` returns the headers of a request. It is called for each request. */
export function createServedApi(url: string, headers: () => Record<string, string> = () => ({})): ServedApi {
  const read = async (path: string) => readJson(`${url}${path}`, headers);
  return {
    listings: async (collectionId) => readListings(read, `/v1/collections/${collectionId}/listings`),
    token: async (chain, contract, tokenId) => {
      const body = await read(`/v1/tokens/${chain}/${contract}/${tokenId}`);
      if (body === null) return null;
      const { owner, listing } = (body as { data: { owner: { address: string | null }; listing: WireItem | null } })
        .data;
      return { owner: owner.address, listing: listing && toListing(listing) };
    },
    bids: (collectionId) => readBids(read, `/explore/v1/orders?side=bid&sort=price&collection=${collectionId}`),
    topBids: async (collectionId, tokenIds) => {
      const collection = (await read(`/explore/v1/collections/${collectionId}`)) as {
        data: { stats: WireTopBid };
      } | null;
      const batch = tokenIds.map((tokenId) => `${collectionId.replace('_', '/')}/${tokenId}`);
      const tokens = await Promise.all(batch.map((token) => read(`/explore/v1/tokens/${token}`)));
      const known = tokens.flatMap((token, index) => {
        const tokenId = tokenIds[index];
        return token === null || tokenId === undefined
          ? []
          : [{ tokenId: BigInt(tokenId), top: toTopBid((token as { data: WireTopBid }).data) }];
      });
      return [{ tokenId: null, top: collection && toTopBid(collection.data.stats) }, ...known];
    },
    status: async () => (await read('/status')) as ServedStatus,
  };
}

type WireItem = {
  orderId: string;
  marketplace: string;
  tokenId: string;
  seller: string | null;
  price: { raw: string };
  expiresAt: string | null;
};
type WirePage = { data: WireItem[]; pagination: { nextCursor: string | null; hasMore: boolean }; meta?: object };

async function readListings(read: (path: string) => Promise<unknown>, path: string): Promise<ServedListings> {
  const rows: ServedListing[] = [];
  let isComplete = true;
  let cursor = '';
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = (await read(`${path}?limit=${PAGE_SIZE}${cursor}`)) as WirePage | null;
    if (page === null) throw new Error(`${path} was not found`);
    rows.push(...page.data.map(toListing));
    if (page.meta) isComplete = false;
    if (!page.pagination.hasMore) return { rows, isComplete };
    cursor = `&cursor=${page.pagination.nextCursor}`;
  }
  throw new Error(`${path} has more than ${PAGES_MAX} pages`);
}

type WireBid = {
  marketplace: string;
  orderHash: string;
  maker: string;
  price: { raw: string };
  proceeds: { raw: string };
  remaining: string;
};
type WireTopBid = { topBid: { orderId: string; proceeds: { raw: string } } | null };

function toTopBid({ topBid }: WireTopBid): ServedTopBid | null {
  return topBid && { orderId: topBid.orderId, proceeds: BigInt(topBid.proceeds.raw) };
}

async function readBids(read: (path: string) => Promise<unknown>, path: string): Promise<ServedBid[]> {
  const rows: ServedBid[] = [];
  let cursor = '';
  for (let pages = 0; pages < BID_PAGES_MAX; pages += 1) {
    const page = (await read(`${path}&limit=${PAGE_SIZE}${cursor}`)) as
      | (Omit<WirePage, 'data'> & { data: WireBid[] })
      | null;
    if (page === null) throw new Error(`${path} was not found`);
    for (const { marketplace, orderHash, maker, price, proceeds, remaining } of page.data) {
      if (!isOwn(marketplace)) continue;
      rows.push({
        key: orderHash,
        bidder: maker,
        price: BigInt(price.raw),
        proceeds: BigInt(proceeds.raw),
        remaining: BigInt(remaining),
      });
    }
    if (!page.pagination.hasMore) return rows;
    cursor = `&cursor=${page.pagination.nextCursor}`;
  }
  throw new Error(`${path} has more than ${BID_PAGES_MAX} pages`);
}

function toListing({ orderId, marketplace, tokenId, seller, price, expiresAt }: WireItem): ServedListing {
  return {
    orderId,
    source: isOwn(marketplace) ? null : marketplace,
    tokenId,
    seller,
    price: BigInt(price.raw),
    expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
  };
}

/** `marketplace` is in upper case for an order of the service itself, and in lower case for an order of an external marketplace. */
function isOwn(marketplace: string): boolean {
  return marketplace === marketplace.toUpperCase();
}

/** Returns the body of a response. Null for a 404. */
async function readJson(url: string, headers: () => Record<string, string>): Promise<unknown> {
  for (let repeats = 0; ; repeats += 1) {
    const response = await fetch(url, { headers: headers(), signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status === NOT_FOUND) return null;
    if (response.ok) return response.json();
    if (response.status !== TOO_MANY || repeats === REPEATS_MAX)
      throw new Error(`${url} responded with status ${response.status}: ${await response.text()}`);
    await delay(1_000 * Number(response.headers.get('retry-after') ?? 1));
  }
}
