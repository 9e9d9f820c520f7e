// Reads listings, tokens and the status of a service over HTTP (`/v1` and `/status`). Lists are read with all their pages.

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

export type ServedToken = { owner: string | null; listing: ServedListing | null };

export type ServedStatus = { chains: { chain: string; block: number | null; note: string | null }[] };

export type ServedApi = {
  listings(collectionId: string): Promise<ServedListings>;
  /** Null for a token that is unknown to the service. */
  token(chain: string, contract: string, tokenId: string): Promise<ServedToken | null>;
  status(): Promise<ServedStatus>;
};

/** The most assets that `/v1` lists for one collection. */
export const WINDOW_SIZE = 250;

const PAGE_SIZE = 100;
const PAGES_MAX = 10;
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

function toListing({ orderId, marketplace, tokenId, seller, price, expiresAt }: WireItem): ServedListing {
  return {
    orderId,
    // `marketplace` is in upper case for a listing of the service itself, and in lower case for a listing of an external marketplace.
    source: marketplace === marketplace.toUpperCase() ? null : marketplace,
    tokenId,
    seller,
    price: BigInt(price.raw),
    expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
  };
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
