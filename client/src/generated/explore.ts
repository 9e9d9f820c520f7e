// Generated from openapi/explore.json by `npm run generate`.

import type { Operations } from '../calls.ts';
import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { Chain, Pagination } from './marketplace.ts';

/** A change of the market. All fields are always present. */
export type Activity = {
  /** The position in the log and in the stream. Comparing the offsets of an epoch as text gives the order of the changes. Null only in lists, for a sale that is not in the log: a sale that a backfill read, a sale that was reported more than an hour after it happened, or a sale whose log row was deleted because of its age. */
  offset: string | null;
  /** What has happened. Further kinds may be added. */
  kind: 'mint' | 'transfer' | 'burn' | 'list' | 'reprice' | 'sale' | 'fill' | 'cancel' | 'expire' | 'invalidate' | 'revalidate' | 'bid' | 'bid-cancel' | 'bid-expire' | 'bid-invalidate' | 'bid-revalidate' | 'floor' | 'reorg' | 'remove';
  /** When it happened, as the chain, the marketplace or the service recorded it. */
  at: string;
  /** The id of the chain. */
  chain: Chain;
  /** Canonical id of the collection; null if no single collection is concerned. */
  collectionId: string | null;
  /** EVM token id as a decimal string; null on Solana, and if no single token is concerned. */
  tokenId: string | null;
  /** Solana asset id; null on EVM chains, and if no single token is concerned. */
  mint: string | null;
  /** Name of the token, in a list with `include=token`. Null in the stream, whose events never change, if no single token is concerned, and if it is not known. */
  name: string | null;
  /** Image URL of the token; known as `name` is. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
  image: string | null;
  /** The price of one unit, or the new floor; for a sale of several tokens the price of all. Null if there is none. In the stream its `usd` is always null: dollar rates change, but an event does not. */
  price: ExplorePrice | null;
  /** The price of all units that were sold, or that an order still offers; null if it is not known, and for other changes. */
  total: ExplorePrice | null;
  /** The units that were transferred or sold, or that an order still offers; null if not known, for a sale of several tokens, and for other changes. */
  quantity: string | null;
  /** The currency of a sale that was not paid in the native currency, or of a bid that is not in its wrapped form: its symbol, or the address of its token. Otherwise null. */
  currency: string | null;
  /** What was paid in such a sale for all units, or what the bidder pays for one unit, in base units of `currency`. Otherwise null. */
  amount: string | null;
  /** The tokens of this collection in a sale of several tokens; null for other changes, and if they are not known. */
  tokens: {
    /** Token id on EVM chains. */
    tokenId: string | null;
    /** Mint on Solana. */
    mint: string | null;
    /** The units that were sold; null if not known. */
    quantity: string | null;
  }[] | null;
  /** The block from which the change was read; null if it was not read from a block. */
  block: number | null;
  /** The position in its block of the event that the change was read from; null if it is not known. */
  logIndex: number | null;
  /** The canonical ids of the collections whose changes a `reorg` takes back; null for other kinds, and if they are not known. */
  collections: string[] | null;
  /** The seller, the sender or, for a change of a bid, the bidder; null if unknown, for a mint, and for a custody wallet. */
  from: string | null;
  /** The buyer or the receiver; null if unknown, for a burn, and for a custody wallet. */
  to: string | null;
  /** The order or listing that the change concerns; null if there is none. */
  orderId: string | null;
  /** The side of the order. A sale of the side `bid` is an accepted bid of this service. Null if `orderId` is null. */
  side: 'ask' | 'bid' | null;
  /** An upper-case code for the service's own orders and sales, the lower-case source slug for others; null if no marketplace is concerned. */
  marketplace: string | null;
  /** True for a sale from an account to itself. Such a sale has no part in volume, number of sales and history. False for any other change. */
  self: boolean;
  /** Transaction hash or signature; null if unknown or off-chain. */
  tx: string | null;
  /** For `invalidate`: `owner`, `approval` or `counter`. For `bid-invalidate`: `balance`, `approval` or `counter`. For `reorg`: `correction` if a better record has replaced earlier records. Otherwise null. */
  reason: string | null;
  /** For `reorg`: the offsets of the earlier changes that it takes back. Otherwise null. */
  voids: string[] | null;
  /** In lists, the offset of the `reorg` that took this change back; null if it was not taken back. In the stream always null: an event does not change once it has an offset. */
  voidedBy: string | null;
};

/** `total` is the sum of `ask` and `fees`. If `platformFee` and `royalty` are stated, `fees` is their sum. */
export type BuyerPrice = {
  ask: ExplorePrice;
  /** The fee of this service; null if it is not stated apart from the other fees. */
  platformFee: ExplorePrice | null;
  /** The royalty of the collection; null if it is not stated apart from the other fees. */
  royalty: ExplorePrice | null;
  fees: ExplorePrice;
  total: ExplorePrice;
};

/** A collection in a list. */
export type ExploreCollectionSummary = {
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
  /** Image URL. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
  image: string | null;
  /** Banner image URL. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
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
    floor: ExplorePrice | null;
    /** All-time volume in native units, best effort. */
    volumeAllTime: number | null;
    /** Number of tokens. */
    supply: number | null;
    /** Number of distinct owners. */
    owners: number | null;
  };
};

/** What a buyer needs to fill an ask, and the owner of a token to accept a bid. */
export type Fulfilment = {
  /** The Seaport contract that the order is signed for. */
  protocolAddress: string;
  /** The components of the order, as they were signed. */
  parameters: Record<string, unknown>;
  /** The signature of the seller, or of the bidder. */
  signature: string;
  /** For a bid that several tokens meet: the Merkle proof (`criteriaProof` of a `CriteriaResolver`) for the token that `token` names, empty if any token of the collection meets the bid. Null without `token`, and for an order for one token. */
  criteriaProof: string[] | null;
};

/** Floor, volume, sales, listed count and top bid of a collection in one interval. All fields are always present. */
export type HistoryPoint = {
  /** The beginning of the interval, an hour or a day in UTC. */
  from: string;
  /** The end of the interval. The next interval begins at this time. */
  to: string;
  /** The floors of the interval. `usd` is always null, because past dollar rates are not stored. If the floor did not change in the interval, all four floors are the last floor of the preceding interval. */
  floor: {
    /** The floor at the beginning of the interval. Null if none is known. */
    open: ExplorePrice | null;
    /** The highest floor in the interval. Null if none is known. */
    high: ExplorePrice | null;
    /** The lowest floor in the interval. Null if none is known. */
    low: ExplorePrice | null;
    /** The floor at the end of the interval, or the present floor if the interval has not ended. Null if none is known. */
    close: ExplorePrice | null;
  };
  /** The sum of the prices of the stored sales of the interval, in native units; null if the price or the currency of one of them cannot be read. */
  volume: number | null;
  /** The number of the stored sales of the interval. */
  sales: number;
  /** The number of listed assets at the end of the interval; null if it is not known. */
  listed: number | null;
  /** The proceeds of the best bid for any token of the collection at the end of the interval; null if there was none, or if it is not known. */
  topBid: ExplorePrice | null;
};

/** The holders of a collection. If the holder of any token is not known, the numbers are null and the lists are empty. */
export type Holders = {
  /** Number of holders. */
  holders: number | null;
  /** Number of tokens. */
  tokens: number | null;
  /** How many holders have how many tokens. Empty if unknown. */
  distribution: {
    /** The fewest tokens of a holder in this range. */
    from: number;
    /** The most tokens of a holder in this range; null if there is no limit. */
    to: number | null;
    /** Number of holders in this range. */
    holders: number;
  }[];
  /** The holders of the most tokens, at most 100. Empty if unknown. */
  largest: {
    /** Address of the holder; null if `kind` is `custody`. */
    address: string | null;
    /** `custody`: a wallet that holds tokens of many owners. */
    kind: 'wallet' | 'custody';
    /** Label of the custody wallet. */
    label: string | null;
    /** Number of tokens that the holder has. */
    tokens: number;
  }[];
};

/** The last sale of a token. */
export type LastSale = {
  /** Price of the sale; null if it could not be interpreted. */
  price: ExplorePrice | null;
  /** When the sale completed. */
  at: string;
  /** An upper-case code for the service's own sales, the lower-case source slug for others. */
  marketplace: string;
  /** Transaction hash or signature; null if it is not known. */
  tx: string | null;
};

/** An order of any status: an ask (a listing) or a bid. All fields are always present. A bid has the bidder as `buyer`, no `seller`, and no token if several tokens meet it. */
export type ListedOrder = {
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
  price: ExplorePrice;
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
  /** Id of the order. It is stable and opaque: compare it for equality, and never parse it. */
  orderId: string;
  /** Transaction hash or signature; null for rows that exist only off-chain. */
  tx: string | null;
  /** Hash of the signed order; null if it is not known. Listings of one order at several marketplaces have one hash, and each an `orderId` of its own. */
  orderHash: string | null;
  /** Number of units offered, 1 for an ERC-721 token. `price` is the price of one unit. */
  quantity: string;
  /** How many of these units were not bought yet; null if this is not known. If the order ended otherwise, they cannot be bought any more. */
  remaining: string | null;
  /** The price of all remaining units; null if their number is not known. */
  total: ExplorePrice | null;
  /** What a buyer pays for one unit, fees included, never less than `price`; null if the royalty of the collection cannot be read. */
  buyerTotal: ExplorePrice | null;
  /** `ask`: offers a token, a listing. `bid`: offers to buy. */
  side: 'ask' | 'bid';
  /** `item`: the order is for one token. `collection`: a bid for any token of the collection. `trait`: a bid for any token of a set. */
  kind: 'item' | 'collection' | 'trait';
  /** Which tokens a bid is for; null for an order for one token. */
  criteria: {
    /** `collection`: any token of the collection. `trait`: the tokens that have these traits. `tokens`: the tokens of a list. */
    type: 'collection' | 'trait' | 'tokens';
    /** For `trait`: the traits that each of the tokens has. The set is that of the time at which the bid was signed, or of the last report of another marketplace. */
    traits: {
      name: string;
      value: string;
    }[] | null;
    /** The number of tokens of the set; null for `collection`. */
    count: number | null;
    /** The Merkle root of the set, which the bidder has signed; null for `collection`, and for a bid of another marketplace. */
    root: string | null;
  } | null;
  /** For a bid: what the seller of one unit keeps of the price, after the fees in the order. Null for an ask. */
  proceeds: ExplorePrice | null;
  /** The account that made the order: the seller of an ask, the bidder of a bid. Null for a custody wallet. */
  maker: string | null;
  /** Why an active order cannot be filled at present; null if it can, or if this is not known. */
  dormant: {
    /** `not-started`: the order can be filled later. `no-balance`: the seller does not have the token, or the bidder not the money. `not-approved`: the seller or the bidder has revoked the approval. `pending`: the listing has not been compared with the events of its chain yet. */
    reasons: ('not-started' | 'pending' | 'no-balance' | 'not-approved')[];
  } | null;
};

/** A listing. It has the same `orderId` in every list, in its order and in the stream. */
export type Listing = {
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
  price: ExplorePrice;
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
  /** Id of the order. It is stable and opaque: compare it for equality, and never parse it. */
  orderId: string;
  /** Transaction hash or signature; null for rows that exist only off-chain. */
  tx: string | null;
  /** Hash of the signed order; null if it is not known. Listings of one order at several marketplaces have one hash, and each an `orderId` of its own. */
  orderHash: string | null;
  /** Number of units offered, 1 for an ERC-721 token. `price` is the price of one unit. */
  quantity: string;
  /** How many of these units were not bought yet; null if this is not known. If the order ended otherwise, they cannot be bought any more. */
  remaining: string | null;
  /** The price of all remaining units; null if their number is not known. */
  total: ExplorePrice | null;
  /** What a buyer pays for one unit, fees included, never less than `price`; null if the royalty of the collection cannot be read. */
  buyerTotal: ExplorePrice | null;
};

/** A collection with all figures of a market table. All fields are always present. */
export type MarketCollection = {
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
  /** Image URL. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
  image: string | null;
  /** Banner image URL. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
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
    floor: ExplorePrice | null;
    /** Volume in native units. Null means unknown at present, never zero. */
    volume: {
      /** Volume in native units, all time. */
      allTime: number | null;
      /** Volume in native units, the last seven days. */
      sevenDay: number | null;
      /** Volume in native units, the last 24 hours. */
      twentyFourHour: number | null;
      /** Volume in native units, the last 30 days. */
      thirtyDay: number | null;
      /** Volume in native units, the last hour. */
      oneHour: number | null;
    };
    /** Number of sales. Null means unknown at present, never zero. */
    sales: {
      /** Number of sales, all time. */
      allTime: number | null;
      /** Number of sales, the last seven days. */
      sevenDay: number | null;
      /** Number of sales, the last 24 hours. */
      twentyFourHour: number | null;
      /** Number of sales, the last 30 days. */
      thirtyDay: number | null;
      /** Number of sales, the last hour. */
      oneHour: number | null;
    };
    /** Number of tokens. */
    supply: number | null;
    /** Number of distinct owners. */
    owners: number | null;
    /** Number of listed assets. */
    listedCount: number | null;
    /** The lowest total that a buyer pays, fees included. It is of the same moment as `floor` and `listedCount`, and never below `floor`. While it cannot be read, it is the last stored one, of the last half hour, on the chains on which `GET /v1/collections/{id}/floor` can serve a stored floor. Null if nothing is listed, or if it is unknown. */
    buyerFloor: {
      price: ExplorePrice;
      /** True if the price is the last stored one, because the present one cannot be read. */
      stale: boolean;
      /** When a stale price was read; null if the price is of the same moment as `floor`. */
      observedAt: string | null;
    } | null;
    /** The best bid for any token of the collection; null if none is known. Bids for one token or for traits do not count. */
    topBid: TopBid | null;
    /** How far the proceeds of the top bid are below the floor, as a ratio to the floor: 0.05 is 5 %. Null if either is unknown. */
    spread: number | null;
    /** The change of the floor, as a ratio to the floor at the beginning of the period: 0.05 is 5 % more. */
    floorChange: {
      /** The change of the floor in one hour; null if either value is unknown. */
      oneHour: number | null;
      /** The change of the floor in 24 hours; null if either value is unknown. */
      twentyFourHour: number | null;
      /** The change of the floor in seven days; null if either value is unknown. */
      sevenDay: number | null;
      /** The change of the floor in 30 days; null if either value is unknown. */
      thirtyDay: number | null;
    };
    /** The change of the volume, as a ratio to the volume of the preceding period: 0.05 is 5 % more. */
    volumeChange: {
      /** The change of the volume in one hour; null if either value is unknown. */
      oneHour: number | null;
      /** The change of the volume in 24 hours; null if either value is unknown. */
      twentyFourHour: number | null;
      /** The change of the volume in seven days; null if either value is unknown. */
      sevenDay: number | null;
      /** The change of the volume in 30 days; null if either value is unknown. */
      thirtyDay: number | null;
    };
  };
  /** The floors of the last seven days in native units, one for every six hours, the earliest first. An element is null if no floor of its six hours is known. */
  sparkline: (number | null)[];
  /** True if the collection was launched on the service. */
  launched: boolean;
  /** True only when neither of the two sources of statistics could be read. */
  stale: boolean;
};

/** A token that a wallet holds, and the best bid that the wallet can accept for it. */
export type Offer = {
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
  topBid: TopBid;
};

/** An order and why it has its status. */
export type Order = {
  /** Id of the order. */
  orderId: string;
  /** State of the order. */
  status: 'active' | 'filled' | 'cancelled' | 'expired';
  /** Why an active order cannot be filled at present; null if it can, or if this is not known. */
  dormant: {
    /** `not-started`: the order can be filled later. `no-balance`: the seller does not have the token, or the bidder not the money. `not-approved`: the seller or the bidder has revoked the approval. `pending`: the listing has not been compared with the events of its chain yet. */
    reasons: ('not-started' | 'pending' | 'no-balance' | 'not-approved')[];
  } | null;
  /** Hash of the signed order; null if it is not known. Listings of one order at several marketplaces have one hash, and each an `orderId` of its own. */
  orderHash: string | null;
  /** `ask`: offers a token, a listing. `bid`: offers to buy. */
  side: 'ask' | 'bid';
  /** `item`: the order is for one token. `collection`: a bid for any token of the collection. `trait`: a bid for any token of a set. */
  kind: 'item' | 'collection' | 'trait';
  /** Which tokens a bid is for; null for an order for one token. */
  criteria: {
    /** `collection`: any token of the collection. `trait`: the tokens that have these traits. `tokens`: the tokens of a list. */
    type: 'collection' | 'trait' | 'tokens';
    /** For `trait`: the traits that each of the tokens has. The set is that of the time at which the bid was signed, or of the last report of another marketplace. */
    traits: {
      name: string;
      value: string;
    }[] | null;
    /** The number of tokens of the set; null for `collection`. */
    count: number | null;
    /** The Merkle root of the set, which the bidder has signed; null for `collection`, and for a bid of another marketplace. */
    root: string | null;
  } | null;
  /** For a bid: what the seller of one unit keeps of the price, after the fees in the order. Null for an ask. */
  proceeds: ExplorePrice | null;
  /** The account that made the order: the seller of an ask, the bidder of a bid. Null for a custody wallet. */
  maker: string | null;
  listing: Listing;
  /** What a buyer of an ask pays, and how the amount is divided; null for a bid, if the royalty of the collection cannot be read, or if the stated total is less than the ask. */
  buyerPrice: BuyerPrice | null;
  /** The events that the status follows from, oldest first. */
  evidence: {
    /** What happened, such as `order-fulfilled` or `order-cancelled`. */
    kind: string;
    /** When it happened. */
    at: string;
    /** The number of the block; null if it is not known, or if the event was off-chain. */
    block: number | null;
    /** The transaction; null if it is not known, or if the event was off-chain. */
    tx: string | null;
  }[];
  /** What is needed to fill the order; null for an order that is not active, has no signature or is not of this service. If `buyerPrice` states `platformFee` and `royalty`, the signed order does not include these two amounts. */
  fulfilment: Fulfilment | null;
};

/** The beneficial owner of a token. */
export type Owner = {
  /** Address of the owner; withheld when `kind` is `custody`. */
  address: string | null;
  /** `wallet`: the owner itself. `custody`: a wallet that holds tokens of many owners. `unknown`: no owner is known. */
  kind: 'wallet' | 'custody' | 'unknown';
  /** Label of the custody wallet. */
  label: string | null;
};

/** An amount. All five fields are always present. */
export type ExplorePrice = {
  /** Integer base units (wei or lamports) as a decimal string. Use this field for arithmetic. */
  raw: bigint;
  /** Native units as a number; loses precision on large amounts. */
  decimal: number;
  /** Native currency symbol of the chain. For a bid in another currency than the wrapped native one: the symbol of this currency. Amounts in different currencies cannot be compared. */
  currency: string;
  /** Best-effort US dollars; null when no recent rate is known. */
  usd: number | null;
  /** One unit of the currency is 10^decimals base units: 18 for ether, 9 for SOL. */
  decimals: number;
};

/** Where the figures of a collection come from. */
export type Provenance = {
  /** One entry for each figure. */
  figures: {
    /** The field below `stats` in `GET /explore/v1/collections/{id}`, or `rarity.rank` for the rarity ranks of the tokens. */
    figure: 'floor' | 'volume.allTime' | 'volume.thirtyDay' | 'volume.sevenDay' | 'volume.twentyFourHour' | 'volume.oneHour' | 'sales.allTime' | 'sales.thirtyDay' | 'sales.sevenDay' | 'sales.twentyFourHour' | 'sales.oneHour' | 'supply' | 'owners' | 'listedCount' | 'topBid' | 'rarity.rank';
    /** `chain`: computed from the events of the followed chain; for `topBid`, a bid of this service, which the chain decides about. `scan`: counted in a list of a marketplace that was read to its end. `reported`: stated by a marketplace, also a bid. `imported`: computed from records of the operator. `snapshot`: stored with the collection record. `unknown`: the figure is null at present. */
    kind: 'chain' | 'scan' | 'reported' | 'imported' | 'snapshot' | 'unknown';
    /** The chain, marketplace or import; null for a snapshot, or if unknown. */
    source: string | null;
    /** When the figure was right; null if this is not known. */
    at: string | null;
    /** True if the figure covers all that its name says. An incomplete figure is served as null. For `rarity.rank`: true if each token has a rank. */
    complete: boolean;
    /** Why the figure is null, such as `2 stored sales have a price or currency that cannot be read`. Null for a figure with a value, and if no source has stated the figure. */
    reason: string | null;
    /** For `rarity.rank`: `information-content` if the service computed the ranks from the traits of the tokens, null if the source states the ranks. Null for every other figure. */
    method: string | null;
  }[];
};

/** A collection or a token that was found. */
export type SearchResult = {
  /** What was found. */
  type: 'collection' | 'token';
  /** The collection; null if a token was found. */
  collection: ExploreCollectionSummary | null;
  /** The token; null if a collection was found. */
  token: Token | null;
  /** How well the result fits: 1 is an exact match. */
  score: number;
};

/** A token. All fields are always present. */
export type Token = {
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
  /** Image URL. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
  image: string | null;
  /** Rarity. */
  rarity: {
    /** Rarity rank; 1 is rarest. */
    rank: number | null;
  };
  owner: Owner;
  /** Active listing, if any. */
  listing: Listing | null;
  /** The traits in the metadata of the token. Empty if none are known. */
  traits: {
    /** Name of the trait, as the metadata states it. */
    name: string;
    /** Value of the trait; numbers and dates as text. */
    value: string;
  }[];
  /** In a list of the tokens of one wallet: the units that the wallet holds, by the log of the followed chain. Null in other responses, if the chain is not read, and if another account holds the token for the wallet. */
  balance: string | null;
  /** The last sale; null if none is known. */
  lastSale: LastSale | null;
  /** The best bid that the owner of the token can accept now, for this token, for its collection or for its traits; null if none is known. */
  topBid: TopBid | null;
};

/** A request for several tokens. */
export type TokenBatch = {
  /** The tokens to read. */
  tokens: {
    /** The id of the chain. */
    chain: Chain;
    /** EVM contract address, or Solana collection mint. */
    address: string;
    /** EVM token id (decimal), or Solana asset mint. */
    tokenId: string;
  }[];
};

/** An owner of a token. All fields are always present. */
export type TokenHolder = {
  /** Address of the owner; null for a custody wallet. */
  address: string | null;
  /** `custody`: a wallet that holds tokens for others. */
  kind: 'wallet' | 'custody';
  /** Name of the custody wallet; null for any other wallet. */
  label: string | null;
  /** The units that the owner holds; null if they were not read from a chain. */
  balance: string | null;
};

/** The bid with the highest proceeds that can be accepted now. Only bids in the wrapped native currency count. `price` is what the bidder pays for one unit, `proceeds` what the seller keeps of it after the fees in the order. */
export type TopBid = {
  /** Id of the bid. */
  orderId: string;
  /** An upper-case code for the service's own rows, the lower-case source slug for external rows. */
  marketplace: string;
  /** `item`: the order is for one token. `collection`: a bid for any token of the collection. `trait`: a bid for any token of a set. */
  kind: 'item' | 'collection' | 'trait';
  proceeds: ExplorePrice;
  price: ExplorePrice;
};

/** A trait that tokens of a collection have. All fields are always present. */
export type Trait = {
  /** Name of the trait, as the metadata states it. */
  name: string;
  /** At most 250 values, the most frequent first. */
  values: {
    /** Value of the trait; numbers and dates as text. */
    value: string;
    /** Number of tokens that have the value; null if a token may be missing. */
    count: number | null;
    /** How many of these tokens are listed; null if a token or a listing may be missing. */
    listed: number | null;
    /** The price of the cheapest listing of these tokens; null if none of them is listed, or if the traits of a listed token are not known. */
    floor: ExplorePrice | null;
    /** The best bid for the tokens of this value, or for any token of the collection; null if none is known. */
    topBid: TopBid | null;
  }[];
  /** True when the trait has values that are not in `values`. */
  hasMoreValues: boolean;
};

/** A collection in which a wallet has tokens or listings. */
export type WalletCollection = {
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
  /** Image URL. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
  image: string | null;
  /** Banner image URL. An inline image (`data:`) of more than 2048 bytes is replaced by a URL of this service, from which it is loaded. */
  banner: string | null;
  /** Description as its author wrote it, served unchanged. It may contain markup: escape it before it is put into a page. */
  description: string | null;
  /** Token standard, such as ERC-721. */
  tokenStandard: string | null;
  /** Royalty in basis points. */
  royaltyBps: number | null;
  /** Number of tokens that the wallet is the recorded holder of. Null if none is recorded and some holders of the collection are not known. */
  tokens: number | null;
  /** Number of units that the wallet holds, as decimal digits. A token of an edition (ERC-1155) has several units, any other token one. Null if unknown. */
  units: string | null;
  /** Number of tokens that the wallet has listed. Null if an order book cannot be read. */
  listed: number | null;
  /** Floor of the collection; null if there is none, or if it is unknown. */
  floor: ExplorePrice | null;
  /** The units at the floor; null if one of the two is unknown. */
  value: ExplorePrice | null;
  /** Where the figures come from. */
  provenance: {
    /** Where the holders of the collection are known from. Null if some are not known: the wallet may then have more tokens. */
    tokens: {
      /** As in `GET /explore/v1/collections/{id}/provenance`. */
      kind: 'chain' | 'scan' | 'reported' | 'imported' | 'snapshot';
      /** The chain, marketplace or import; null for a snapshot. */
      source: string | null;
      /** When the figure was right; null if this is not known. */
      at: string | null;
    } | null;
    /** Where the floor is known from. Null if it is unknown. */
    floor: {
      /** As in `GET /explore/v1/collections/{id}/provenance`. */
      kind: 'chain' | 'scan' | 'reported' | 'imported' | 'snapshot';
      /** The chain, marketplace or import; null for a snapshot. */
      source: string | null;
      /** When the figure was right; null if this is not known. */
      at: string | null;
    } | null;
  };
};

export type ListMarketCollectionsParameters = {
  /** Only these collections, in this order: up to 100 ids, slugs or addresses, separated by commas. All of them are on one page. No filter, sort or cursor may be given. */
  ids?: string | undefined;
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** Default: `volume`. `volume` and `sales`: by the volume and the number of sales of the `window`. `floor`: by floor. `change`: by the change of the floor in the `window`. `listed`: by the number of listed assets. `recent`: by the time of the record. When `chain` is absent, volumes and floors are compared in dollars, at the newest known rate of each currency, even if that rate is old. Volumes and floors on chains without a known rate follow those in dollars, and are compared in native units. Numbers of sales, changes and numbers of listed assets have no unit and are compared as they are. */
  sort?: 'volume' | 'sales' | 'floor' | 'change' | 'listed' | 'recent' | undefined;
  /** The period of `volume`, `sales` and `change`, and of `volumeMin` and `volumeMax`. Default: `all`, and `24h` for the sort `change`, which has no period `all`. */
  window?: '1h' | '24h' | '7d' | '30d' | 'all' | undefined;
  /** Default: `desc`. From high to low, or from low to high. Unknown values come last in both. */
  order?: 'asc' | 'desc' | undefined;
  /** Default: `true`. Collections launched on the service come before all others, each part in its order. `false`: all collections are in one order. */
  launchedFirst?: boolean | undefined;
  /** Only collections with at least this floor. In native units of `chain`; without `chain` in dollars, and then collections on chains without a known rate are left out. */
  floorMin?: string | undefined;
  /** Only collections with at most this floor. In native units of `chain`; without `chain` in dollars, and then collections on chains without a known rate are left out. */
  floorMax?: string | undefined;
  /** Only collections with at least this volume in the `window`. In native units of `chain`; without `chain` in dollars, and then collections on chains without a known rate are left out. */
  volumeMin?: string | undefined;
  /** Only collections with at most this volume in the `window`. In native units of `chain`; without `chain` in dollars, and then collections on chains without a known rate are left out. */
  volumeMax?: string | undefined;
};

export type ListMarketCollectionsResult = {
  /** The rows of this page. */
  data: MarketCollection[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type GetMarketCollectionParameters = {
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type GetMarketCollectionResult = {
  data: MarketCollection;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListTokensParameters = {
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** `price`: the cheapest listing first, then the tokens that are not listed, by id. `rank`: the rarest first, then the tokens without a rank, by id. `id`: the lowest token id first. `recent`: the newest listing first, then the tokens that are not listed, by id. `lastSale`: the token that was sold last first, then the tokens without a sale, by id. */
  sort?: 'price' | 'rank' | 'id' | 'recent' | 'lastSale' | undefined;
  /** `true`: only listed tokens. `false`: only tokens that are not listed. */
  listed?: boolean | undefined;
  /** Only tokens of this owner. A page may then be short or empty although there is a next page. */
  owner?: string | undefined;
  /** Only tokens whose listing is of this marketplace: the `marketplace` of the listing, in any case. The service's own code stands for its own orders. */
  source?: string | undefined;
  /** Only listed tokens with at least this price, in native units of the chain. */
  priceMin?: string | undefined;
  /** Only listed tokens with at most this price, in native units of the chain. */
  priceMax?: string | undefined;
  /** Only tokens with at least this rarity rank. 1 is the rarest. */
  rankMin?: number | undefined;
  /** Only tokens with at most this rarity rank. */
  rankMax?: number | undefined;
  /** Only tokens whose name or token id begins with this text, or whose mint is this text. */
  q?: string | undefined;
  /** Only tokens with these traits, for example `traits[Wind]=Gale`. May be given several times: for each name, a token must have one of the given values. */
  traits?: Record<string, string | string[]> | undefined;
  /** The same filter in a form that all clients can send: `trait=Wind:Gale&trait=Wind:Storm`. The name is the part before the first colon; a name that has a colon is sent with `traits`. */
  trait?: string[] | undefined;
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type ListTokensResult = {
  /** The rows of this page. */
  data: Token[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ReadTokensParameters = TokenBatch;

export type ReadTokensResult = {
  /** The tokens. */
  data: (Token | null)[];
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type GetMarketTokenParameters = {
  /** The id of the chain. */
  chain: Chain;
  /** EVM contract address, or Solana collection mint. */
  address: string;
  /** EVM token id (decimal), or Solana asset mint. */
  tokenId: string;
};

export type GetMarketTokenResult = {
  data: Token;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListTokenOwnersParameters = {
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** The id of the chain. */
  chain: Chain;
  /** EVM contract address, or Solana collection mint. */
  address: string;
  /** EVM token id (decimal), or Solana asset mint. */
  tokenId: string;
};

export type ListTokenOwnersResult = {
  /** The rows of this page. */
  data: TokenHolder[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListWalletTokensParameters = {
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** EVM or Solana address of the wallet. */
  address: string;
};

export type ListWalletTokensResult = {
  /** The rows of this page. */
  data: Token[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListWalletListingsParameters = {
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** EVM or Solana address of the wallet. */
  address: string;
};

export type ListWalletListingsResult = {
  /** The rows of this page. */
  data: Listing[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListWalletCollectionsParameters = {
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** EVM or Solana address of the wallet. */
  address: string;
};

export type ListWalletCollectionsResult = {
  /** The rows of this page. */
  data: WalletCollection[];
  pagination: Pagination;
  /** The values of all collections of the wallet on these chains, by currency. Null if the wallet has tokens of more than 1000 collections, or if the values cannot be read. */
  totals: {
    /** Symbol of the currency. */
    currency: string;
    /** The sum of the known values in this currency; null if none is known. It uses the stored floors, which follow changes within seconds. */
    value: ExplorePrice | null;
    /** Number of collections with tokens of the wallet. */
    collections: number;
    /** How many of these collections have no part in the sum, because their value is unknown. */
    unvalued: number;
  }[] | null;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListWalletOffersParameters = {
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** EVM or Solana address of the wallet. */
  address: string;
};

export type ListWalletOffersResult = {
  /** The rows of this page. */
  data: Offer[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListOrdersParameters = {
  /** Only orders of this collection: its canonical id, slug or address. */
  collection?: string | undefined;
  /** Only orders of this token: `chain/address/tokenId`, on Solana with the mint of the collection and of the token. With `collection`, the token id or mint alone is enough. */
  token?: string | undefined;
  /** Only orders of this seller or bidder. */
  maker?: string | undefined;
  /** Default: `ask`, listings. `bid`: offers to buy. With `token`, bids are those that the owner of the token can accept, of each kind. */
  side?: 'ask' | 'bid' | undefined;
  /** Only bids of this kind. Needs `side=bid`. */
  kind?: 'item' | 'collection' | 'trait' | undefined;
  /** Only orders of this source: a value of `marketplace`. Needs `collection`, `token` or `maker`. */
  source?: string | undefined;
  /** `active`: can be filled now. `dormant`: has not ended, and cannot be filled at present; `dormant` of the row says why. `filled`, `cancelled`, `expired`: has ended. Another status than `active` needs `collection`, `token` or `maker`. */
  status?: 'active' | 'dormant' | 'filled' | 'cancelled' | 'expired' | undefined;
  /** `created`: the newest first. `price`: the lowest price first, and of bids the highest `proceeds` first. `expires`: the order that expires next first; leaves out orders that do not expire. `price` and `expires` are for active orders, and need `collection` or `token`. */
  sort?: 'price' | 'created' | 'expires' | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
};

export type ListOrdersResult = {
  /** The rows of this page. */
  data: ListedOrder[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type GetOrderParameters = {
  /** For a bid that several tokens meet: the id of the token for which `fulfilment` has the proof. */
  token?: string | undefined;
  /** The `orderId` of a listing, or the hash of a signed order. */
  orderId: string;
};

export type GetOrderResult = {
  data: Order;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type GetProvenanceParameters = {
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type GetProvenanceResult = {
  data: Provenance;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type GetHistoryParameters = {
  /** The length of the intervals. Days begin at midnight in UTC. */
  interval?: 'hour' | 'day' | undefined;
  /** The history begins with the interval that contains this time. Default: seven days before `to` for hours, 90 days before `to` for days. A response has at most 2400 hours or 1100 days. */
  from?: string | undefined;
  /** The history ends with the last interval that begins before this time. Default: now. */
  to?: string | undefined;
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type GetHistoryResult = {
  /** One point for each interval, the earliest first. */
  data: HistoryPoint[];
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type GetHoldersParameters = {
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type GetHoldersResult = {
  data: Holders;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListTraitsParameters = {
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana). */
  id: string;
};

export type ListTraitsResult = {
  /** The rows of this page. */
  data: Trait[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListActivityParameters = {
  /** Only changes of this collection: its canonical id, slug or address. */
  collection?: string | undefined;
  /** Only changes of this token: `chain/address/tokenId`, on Solana with the mint of the collection and of the token. With `collection`, the token id or mint alone is enough. */
  token?: string | undefined;
  /** Only these kinds, separated by commas: mint, transfer, burn, list, reprice, sale, fill, cancel, expire, invalidate, revalidate, bid, bid-cancel, bid-expire, bid-invalidate, bid-revalidate, floor, reorg, remove. */
  kinds?: string | undefined;
  /** `token`: each row has the name and the image of its token. */
  include?: 'token' | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** Only changes in which this account is the seller, sender, buyer or receiver. */
  wallet?: string | undefined;
};

export type ListActivityResult = {
  /** The rows of this page. */
  data: Activity[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListWalletActivityParameters = {
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** Only changes of this collection: its canonical id, slug or address. */
  collection?: string | undefined;
  /** Only changes of this token: `chain/address/tokenId`, on Solana with the mint of the collection and of the token. With `collection`, the token id or mint alone is enough. */
  token?: string | undefined;
  /** Only these kinds, separated by commas: mint, transfer, burn, list, reprice, sale, fill, cancel, expire, invalidate, revalidate, bid, bid-cancel, bid-expire, bid-invalidate, bid-revalidate, floor, reorg, remove. */
  kinds?: string | undefined;
  /** `token`: each row has the name and the image of its token. */
  include?: 'token' | undefined;
  /** The `nextCursor` of the previous page, unchanged. */
  cursor?: string | undefined;
  /** Rows per page. */
  limit?: number | undefined;
  /** EVM or Solana address of the wallet. */
  address: string;
};

export type ListWalletActivityResult = {
  /** The rows of this page. */
  data: Activity[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type SearchMarketParameters = {
  /** The text to search for. */
  q: string;
  /** The id of the chain. */
  chain?: Chain | undefined;
  /** The most results. */
  limit?: number | undefined;
};

export type SearchMarketResult = {
  /** The rows of this page. */
  data: SearchResult[];
  pagination: Pagination;
  /** About the response. */
  meta: {
    /** The offset in the stream that the response reflects; null while the activity log cannot be read. Follow the stream from this offset to learn what changes afterwards. */
    offset: string | null;
  };
};

export type ListActivityAfterParameters = {
  /** An offset, such as `next` of the previous page. `0`: the page begins with the oldest kept event. */
  offset: string;
};

export type ListActivityAfterResult = {
  /** The events. */
  data: Activity[];
  /** The offset of the next page; null for the last page. */
  next: string | null;
};

export type ExploreMethods = {
  /** List collections with all figures. The collections of `GET /v1/collections`, with the figures of `GET /v1/collections/{id}`, the buyer floor, and the changes of floor and volume. Collections launched on the service come first, then all others, unless `launchedFirst` is `false`. A collection whose value is not known comes last. The order by a window, or by the number of all sales, is brought up to date some seconds after a change of the collection, each minute while it has sales in the last hour, and otherwise each ten minutes; the figures of the rows are those of the present. */
  listMarketCollections(parameters?: ListMarketCollectionsParameters, options?: CallOptions): Pages<ListMarketCollectionsResult>;
  /** Read a collection with all figures. The row of the collection in `GET /explore/v1/collections`. A figure that cannot be read is null, as in `GET /v1/collections/{id}`. */
  getMarketCollection(parameters: GetMarketCollectionParameters, options?: CallOptions): Promise<GetMarketCollectionResult>;
  /** List the tokens of a collection. The tokens of which the service has a record, with owner, listing and last sale. Burned tokens are left out. With the sort `price`, listed tokens come first, and listed tokens without a record are in the list too. */
  listTokens(parameters: ListTokensParameters, options?: CallOptions): Pages<ListTokensResult>;
  /** Read several tokens. Reads up to 100 tokens of any collections. `data` has one element for each token of the request, in the same order. The element is null for a token that does not exist or was burned. A token that is listed on this service exists, even if nothing else is known of it. */
  readTokens(parameters: ReadTokensParameters, options?: CallOptions): Promise<ReadTokensResult>;
  /** Read a token with its traits. A token as the lists of tokens have it. A token that is listed on this service exists, even if nothing else is known of it. */
  getMarketToken(parameters: GetMarketTokenParameters, options?: CallOptions): Promise<GetMarketTokenResult>;
  /** List the owners of a token. The accounts that hold units of the token, by the log of the followed chain, sorted by address. If the collection is not followed on its chain, the list has at most one owner, whose `balance` is null. */
  listTokenOwners(parameters: ListTokenOwnersParameters, options?: CallOptions): Pages<ListTokenOwnersResult>;
  /** List the tokens of a wallet. The tokens whose beneficial owner is the wallet, on all chains or on one, sorted by collection and token. A page may be short or empty although there is a next page. */
  listWalletTokens(parameters: ListWalletTokensParameters, options?: CallOptions): Pages<ListWalletTokensResult>;
  /** List the listings of a wallet. The active listings whose seller is the wallet, on all chains or on one, sorted by collection and token: one row for each token, the cheapest, or the order of this service. `listOrders` with `maker` has all orders. */
  listWalletListings(parameters: ListWalletListingsParameters, options?: CallOptions): Pages<ListWalletListingsResult>;
  /** List the collections of a wallet. The collections in which the wallet is the recorded holder of tokens, or has listings, on all chains or on one, sorted by id, with the value of its tokens at the floor. `totals` has the sums by currency. */
  listWalletCollections(parameters: ListWalletCollectionsParameters, options?: CallOptions): Pages<ListWalletCollectionsResult>;
  /** List what is offered for the tokens of a wallet. The tokens that the wallet holds, by the logs of the followed chains, and for which another account has bid: one row for each token, with its best bid. Sorted by chain, and then by the proceeds of the seller, the highest first. `listOrders` with `side=bid` and `token` has all bids of a token. */
  listWalletOffers(parameters: ListWalletOffersParameters, options?: CallOptions): Pages<ListWalletOffersResult>;
  /** List orders. The orders of this service, and the listings and bids of other marketplaces, of one side. The list has every order, also the more expensive orders of a token and the orders of one seller for one token. Follow the stream from `meta.offset` of the first page to keep the list up to date. */
  listOrders(parameters?: ListOrdersParameters, options?: CallOptions): Pages<ListOrdersResult>;
  /** Read an order. An order of this service, ask or bid, or a listing of another marketplace, by its id or its order hash: its status, why it has this status, and, for an active order of this service, what is needed to fill it. */
  getOrder(parameters: GetOrderParameters, options?: CallOptions): Promise<GetOrderResult>;
  /** Read where the figures of a collection come from. The kind, the source and the time of each figure that `GET /explore/v1/collections/{id}` serves, and of the rarity ranks of the tokens. */
  getProvenance(parameters: GetProvenanceParameters, options?: CallOptions): Promise<GetProvenanceResult>;
  /** Read the history of a collection. Reads floor, volume, sales, listed count and top bid of a collection for each hour or day, the earliest first. If the last interval has not ended, its point has the values up to now. The service records floors, listed counts and top bids when they change. They are null for the time before the first recorded change. When a block with an event of the collection is orphaned, the service removes the floors, listed counts and top bids of the collection that it recorded after it applied the first orphaned block. The list is empty if the collection has no chain. */
  getHistory(parameters: GetHistoryParameters, options?: CallOptions): Promise<GetHistoryResult>;
  /** Read the holders of a collection. How many holders have how many tokens, and the holders of the most tokens. */
  getHolders(parameters: GetHoldersParameters, options?: CallOptions): Promise<GetHoldersResult>;
  /** List the traits of a collection. Lists the traits in alphabetical order of their names. Each trait has its values and their figures. */
  listTraits(parameters: ListTraitsParameters, options?: CallOptions): Pages<ListTraitsResult>;
  /** List what has changed in the market. Listings, sales, transfers and floors, newest first. With `collection`, the list also has past sales, which the change stream does not have: sales that the backfill of the collection read, and sales that were reported more than an hour after they happened. A change that was taken back has `voidedBy`. */
  listActivity(parameters?: ListActivityParameters, options?: CallOptions): Pages<ListActivityResult>;
  /** List the activity of a wallet. The changes in which the wallet is the seller, sender, buyer or receiver, on all chains or on one, newest first. */
  listWalletActivity(parameters: ListWalletActivityParameters, options?: CallOptions): Pages<ListWalletActivityResult>;
  /** Search collections and tokens. Collections and tokens by name, slug, contract address or mint, the best results first. The name of a collection may be misspelt. A name with a number, such as `harbour lights 249`, also finds the token of this id. There is one page. */
  searchMarket(parameters: SearchMarketParameters, options?: CallOptions): Pages<SearchMarketResult>;
  /** Read the past of the stream. The events after an offset, up to 500, in the order of the stream. A page with a `next` changes only when a collection is removed: then the page loses the events of this collection. Caches may therefore keep such a page. A page of another epoch is a 410. The page of the offset `0` also changes when its oldest events are no longer kept. The last page has no `next`: follow the stream from the `offset` of its last event, or from the offset of the page if the page is empty. */
  listActivityAfter(parameters: ListActivityAfterParameters, options?: CallOptions): Promise<ListActivityAfterResult>;
};

export const EXPLORE_OPERATIONS = {
  listMarketCollections: { method: 'GET', path: '/explore/v1/collections', kind: 'list', query: ['ids', 'chain', 'cursor', 'limit', 'sort', 'window', 'order', 'launchedFirst', 'floorMin', 'floorMax', 'volumeMin', 'volumeMax'] },
  getMarketCollection: { method: 'GET', path: '/explore/v1/collections/{id}', kind: 'read' },
  listTokens: { method: 'GET', path: '/explore/v1/collections/{id}/tokens', kind: 'list', query: ['cursor', 'limit', 'sort', 'listed', 'owner', 'source', 'priceMin', 'priceMax', 'rankMin', 'rankMax', 'q', 'traits', 'trait'] },
  readTokens: { method: 'POST', path: '/explore/v1/tokens/batch', kind: 'read', hasBody: true },
  getMarketToken: { method: 'GET', path: '/explore/v1/tokens/{chain}/{address}/{tokenId}', kind: 'read' },
  listTokenOwners: { method: 'GET', path: '/explore/v1/tokens/{chain}/{address}/{tokenId}/owners', kind: 'list', query: ['cursor', 'limit'] },
  listWalletTokens: { method: 'GET', path: '/explore/v1/wallets/{address}/tokens', kind: 'list', query: ['chain', 'cursor', 'limit'] },
  listWalletListings: { method: 'GET', path: '/explore/v1/wallets/{address}/listings', kind: 'list', query: ['chain', 'cursor', 'limit'] },
  listWalletCollections: { method: 'GET', path: '/explore/v1/wallets/{address}/collections', kind: 'list', query: ['chain', 'cursor', 'limit'] },
  listWalletOffers: { method: 'GET', path: '/explore/v1/wallets/{address}/offers', kind: 'list', query: ['chain', 'cursor', 'limit'] },
  listOrders: { method: 'GET', path: '/explore/v1/orders', kind: 'list', query: ['collection', 'token', 'maker', 'side', 'kind', 'source', 'status', 'sort', 'cursor', 'limit'] },
  getOrder: { method: 'GET', path: '/explore/v1/orders/{orderId}', kind: 'read', query: ['token'] },
  getProvenance: { method: 'GET', path: '/explore/v1/collections/{id}/provenance', kind: 'read' },
  getHistory: { method: 'GET', path: '/explore/v1/collections/{id}/history', kind: 'read', query: ['interval', 'from', 'to'] },
  getHolders: { method: 'GET', path: '/explore/v1/collections/{id}/holders', kind: 'read' },
  listTraits: { method: 'GET', path: '/explore/v1/collections/{id}/traits', kind: 'list', query: ['cursor', 'limit'] },
  listActivity: { method: 'GET', path: '/explore/v1/activity', kind: 'list', query: ['collection', 'token', 'kinds', 'include', 'cursor', 'limit', 'wallet'] },
  listWalletActivity: { method: 'GET', path: '/explore/v1/wallets/{address}/activity', kind: 'list', query: ['chain', 'collection', 'token', 'kinds', 'include', 'cursor', 'limit'] },
  searchMarket: { method: 'GET', path: '/explore/v1/search', kind: 'list', query: ['q', 'chain', 'limit'] },
  listActivityAfter: { method: 'GET', path: '/explore/v1/stream/pages/{offset}', kind: 'read' },
} as const satisfies Operations;
