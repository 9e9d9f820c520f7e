// Generated from openapi/marketplace.json by `npm run generate`.

import type { Operations } from '../calls.ts';
import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';

/** A service can also serve one chain that the documents do not list. */
export type Chain = 'solana' | 'ethereum' | 'polygon' | 'base' | 'ink' | 'apechain' | 'abstract' | (string & {});

/** One collection. */
export type CollectionDetail = {
  /** Canonical collection id. */
  id: string;
  /** Chain value; null when no chain is known for the collection. */
  chain: Chain | null;
  /** EVM contract (lower case) or Solana collection mint (case preserved): the address to use on-chain. */
  contractAddress: string | null;
  /** Display name. */
  name: string;
  /** Platform slug; usable as `{id}`. */
  slug: string | null;
  /** Image URL. In a list, null if it has more than 8192 characters, as an inline image (`data:`) may: the response about the single collection has it. */
  image: string | null;
  /** Banner image URL. In a list, null for the same reason as `image`. */
  banner: string | null;
  /** Description as its author wrote it, served unchanged. It may contain markup: escape it before it is put into a page. */
  description: string | null;
  /** Token standard, such as ERC-721. */
  tokenStandard: string | null;
  /** Royalty in basis points. */
  royaltyBps: number | null;
  /** The statistics that are known at present. Null means unknown, never zero. */
  stats: {
    /** Cheapest seller ask; null when unknown. */
    floor: Price | null;
    /** Volume in native units. Null means unknown at present, never zero. */
    volume: {
      /** Volume in native units, all time. */
      allTime: number | null;
      /** Volume in native units, the last seven days. */
      sevenDay: number | null;
      /** Volume in native units, the last 24 hours. */
      twentyFourHour: number | null;
    };
    /** Number of sales. Null means unknown at present, never zero. */
    sales: {
      /** Number of sales, all time. */
      allTime: number | null;
      /** Number of sales, the last seven days. */
      sevenDay: number | null;
      /** Number of sales, the last 24 hours. */
      twentyFourHour: number | null;
    };
    /** Number of tokens. */
    supply: number | null;
    /** Number of distinct owners. */
    owners: number | null;
    /** Number of listed assets. */
    listedCount: number | null;
  };
  /** True only when neither of the two sources of statistics could be read. */
  stale: boolean;
};

/** A collection in a list. */
export type CollectionSummary = {
  /** Canonical collection id. */
  id: string;
  /** Chain value; null when no chain is known for the collection. */
  chain: Chain | null;
  /** EVM contract (lower case) or Solana collection mint (case preserved): the address to use on-chain. */
  contractAddress: string | null;
  /** Display name. */
  name: string;
  /** Platform slug; usable as `{id}`. */
  slug: string | null;
  /** Image URL. In a list, null if it has more than 8192 characters, as an inline image (`data:`) may: the response about the single collection has it. */
  image: string | null;
  /** Banner image URL. In a list, null for the same reason as `image`. */
  banner: string | null;
  /** Description as its author wrote it, served unchanged. It may contain markup: escape it before it is put into a page. */
  description: string | null;
  /** Token standard, such as ERC-721. */
  tokenStandard: string | null;
  /** Royalty in basis points. */
  royaltyBps: number | null;
  /** The statistics that are known at present. Null means unknown, never zero. */
  stats: {
    /** Cheapest seller ask; null when unknown. */
    floor: Price | null;
    /** All-time volume in native units, best effort. */
    volumeAllTime: number | null;
    /** Number of tokens. */
    supply: number | null;
    /** Number of distinct owners. */
    owners: number | null;
  };
};

/** The floors of a collection. */
export type FloorResponse = {
  /** Canonical collection id. */
  collectionId: string;
  /** Cheapest seller ask; null when unknown. */
  askFloor: Price | null;
  /** Lowest total that a buyer pays for one listing, fees included; null when there is no listing, or when the total is unknown. */
  buyerFloor: Price | null;
  /** Always true. */
  aggregated: true;
  /** Time of this response, not of the observation. */
  updatedAt: string;
  /** True when `buyerFloor` is an earlier value, because the present one could not be computed. */
  stale: boolean;
};

/** A listing or a sale. All fields are always present. */
export type MarketItem = {
  /** The id of the chain. */
  chain: Chain;
  /** EVM contract address in lower case; null on Solana. */
  contractAddress: string | null;
  /** EVM token id as a decimal string; null on Solana. */
  tokenId: string | null;
  /** Solana asset id in base58, case preserved; null on EVM chains. */
  mint: string | null;
  /** Canonical collection id. Opaque: pass it back as `{id}`, compare for equality only. */
  collectionId: string;
  price: Price;
  /** Address of the seller; null when the seller is not known or is a custody wallet, which holds tokens for others. */
  seller: string | null;
  /** Address of the buyer; null for a listing, and for a sale whose buyer is not known or is a custody wallet. */
  buyer: string | null;
  /** An upper-case code for the service's own rows, the lower-case source slug for external rows. */
  marketplace: string;
  /** State of the listing or sale. */
  status: 'active' | 'filled' | 'cancelled' | 'expired' | 'sold';
  /** When the listing expires; null for a listing without expiry, and for a sale. */
  expiresAt: string | null;
  /** When the listing was created, or the sale completed. */
  timestamp: string;
  /** Id of the listing, or of the listing that the sale filled; null for a sale whose listing is not known. The id is stable and opaque: compare it for equality, and never parse it. */
  orderId: string | null;
  /** Transaction hash or signature; null for rows that exist only off-chain. */
  tx: string | null;
};

/** Where the next page of a list begins. */
export type Pagination = {
  /** Opaque cursor of the next page; null on the last one. */
  nextCursor: string | null;
  /** True when there is a next page. A short or empty page does not mean that the list has ended. */
  hasMore: boolean;
};

/** An amount. All four fields are always present. */
export type Price = {
  /** Integer base units (wei or lamports) as a decimal string. Use this field for arithmetic. */
  raw: bigint;
  /** Native units as a number; loses precision on large amounts. */
  decimal: number;
  /** Native currency symbol of the chain. */
  currency: string;
  /** Best-effort US dollars; null when no recent rate is known. */
  usd: number | null;
};

/** One token. */
export type TokenDetail = {
  /** The id of the chain. */
  chain: Chain;
  /** EVM contract address in lower case; null on Solana. */
  contractAddress: string | null;
  /** EVM token id as a decimal string; null on Solana. */
  tokenId: string | null;
  /** Solana asset id in base58, case preserved; null on EVM chains. */
  mint: string | null;
  /** Canonical collection id. Opaque: pass it back as `{id}`, compare for equality only. */
  collectionId: string;
  /** Name of the token. */
  name: string | null;
  /** Image URL. In a response with several tokens, null if it has more than 8192 characters, as an inline image (`data:`) may: the response about the single token has it. */
  image: string | null;
  /** Rarity. */
  rarity: {
    /** Rarity rank; 1 is rarest. */
    rank: number | null;
  };
  /** Beneficial owner, never the shared custody wallet: on a followed chain the holder that was read from the chain; otherwise the seller of a listed token, or the reported holder of a token that is not listed. */
  owner: {
    /** Address of the owner; withheld when `kind` is `custody`. */
    address: string | null;
    /** `wallet`: the owner itself. `custody`: a wallet that holds tokens of many owners. `unknown`: no owner is known. */
    kind: 'wallet' | 'custody' | 'unknown';
    /** Label of the custody wallet. */
    label: string | null;
  };
  /** Active listing, if any. */
  listing: MarketItem | null;
  /** Price of the last sale; null when there is no sale, or when the price of the last sale could not be interpreted. */
  lastSale: {
    price: Price;
  } | null;
};

export type ListCollectionsParameters = {
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** `volume`: by all-time volume. `floor`: by floor. When `chain` is absent, volumes and floors are compared in dollars, at the newest known rate of each currency, even if that rate is old. Volumes and floors on chains without a known rate follow those in dollars, and are compared in native units. `recent`: newest record first. */
  sort?: 'volume' | 'floor' | 'recent' | undefined;
};

export type ListCollectionsResult = {
  /** The rows of this page. */
  data: CollectionSummary[];
  pagination: Pagination;
};

export type GetCollectionParameters = {
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type GetCollectionResult = {
  data: CollectionDetail;
};

export type GetFloorParameters = {
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type GetFloorResult = {
  data: FloorResponse;
};

export type ListListingsParameters = {
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type ListListingsResult = {
  /** The rows of this page. */
  data: MarketItem[];
  pagination: Pagination;
  /** Present only when the listings of external marketplaces could not be read. */
  meta?: {
    /** Always true when `meta` is present. */
    stale: true;
    /** The names of the sources that could not be read. */
    staleSources: string[];
  };
};

export type ListSalesParameters = {
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type ListSalesResult = {
  /** The rows of this page. */
  data: MarketItem[];
  pagination: Pagination;
};

export type GetTokenParameters = {
  /** The id of the chain. */
  chain: Chain;
  /** EVM contract address, or Solana collection mint. */
  address: string;
  /** EVM token id (decimal), or Solana asset mint. */
  tokenId: string;
};

export type GetTokenResult = {
  data: TokenDetail;
};

export type MarketplaceMethods = {
  /** List collections. Collections launched on the service come first, then all others. `sort` orders both groups from high to low, with unknown values last. */
  listCollections(parameters?: ListCollectionsParameters, options?: CallOptions): Pages<ListCollectionsResult>;
  /** Read a collection. Identity and statistics. `volume` and `sales` come from one source of statistics; `supply`, `owners` and `listedCount` come from another; `floor` comes from the listings. A field that cannot be read is null, except that `supply` and `floor` fall back to stored values. `stale` is true only when neither source of statistics could be read. */
  getCollection(parameters: GetCollectionParameters, options?: CallOptions): Promise<GetCollectionResult>;
  /** Read the floors of a collection. The cheapest ask, and the lowest total that a buyer pays, fees included. When a source cannot be read, a floor may be an earlier value or null; the response is not an error. */
  getFloor(parameters: GetFloorParameters, options?: CallOptions): Promise<GetFloorResult>;
  /** List the cheapest listings of a collection. The own order book merged with external marketplaces: one row per asset, cheapest first, at most 250. `meta` is present only when the listings of external marketplaces could not be read. */
  listListings(parameters: ListListingsParameters, options?: CallOptions): Pages<ListListingsResult>;
  /** List the sales of a collection. Completed sales, newest first. Sales whose price cannot be interpreted are left out of their page, so a page may be short or empty while `hasMore` is true. */
  listSales(parameters: ListSalesParameters, options?: CallOptions): Pages<ListSalesResult>;
  /** Read a token. A token with its beneficial owner, its active listing and the price of its last sale. */
  getToken(parameters: GetTokenParameters, options?: CallOptions): Promise<GetTokenResult>;
};

export const MARKETPLACE_OPERATIONS = {
  listCollections: { method: 'GET', path: '/v1/collections', kind: 'list', query: ['chain', 'cursor', 'limit', 'sort'] },
  getCollection: { method: 'GET', path: '/v1/collections/{id}', kind: 'read' },
  getFloor: { method: 'GET', path: '/v1/collections/{id}/floor', kind: 'read' },
  listListings: { method: 'GET', path: '/v1/collections/{id}/listings', kind: 'list', query: ['cursor', 'limit'] },
  listSales: { method: 'GET', path: '/v1/collections/{id}/sales', kind: 'list', query: ['cursor', 'limit'] },
  getToken: { method: 'GET', path: '/v1/tokens/{chain}/{address}/{tokenId}', kind: 'read' },
} as const satisfies Operations;
