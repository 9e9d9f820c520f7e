// The records that the model reads (docs/records.md), and the facts about chains that it needs. Nothing here or elsewhere in this folder imports the
// service: the model states the rules of its own, so that a mistake of the service is not repeated by what judges it.

export type ChainFacts = { family: 'evm' | 'solana'; symbol: string; decimals: number };

/** Decisions 1, "Chains", in the order of the table. */
export const CHAINS: Readonly<Record<string, ChainFacts>> = {
  solana: { family: 'solana', symbol: 'SOL', decimals: 9 },
  ethereum: { family: 'evm', symbol: 'ETH', decimals: 18 },
  polygon: { family: 'evm', symbol: 'POL', decimals: 18 },
  base: { family: 'evm', symbol: 'ETH', decimals: 18 },
  ink: { family: 'evm', symbol: 'ETH', decimals: 18 },
  apechain: { family: 'evm', symbol: 'APE', decimals: 18 },
  abstract: { family: 'evm', symbol: 'ETH', decimals: 18 },
};

export function isEvm({ chain }: { chain: string }): boolean {
  return CHAINS[chain]?.family === 'evm';
}

/** `SERVICE_NAME`, decisions 1: its code in upper case names own rows, and `mercat_` is the prefix of own Solana order ids. */
export const SERVICE_NAME = 'mercat';

type InCollection = { chain: string; contractAddress: string };
type OfToken = InCollection & { tokenId?: string; mint?: string };

export type CollectionRecord = InCollection & {
  kind: 'collection';
  name: string;
  slug?: string;
  image?: string;
  description?: string;
  royaltyBps?: number;
  launched?: boolean;
  tokensComplete?: boolean;
  createdAt?: string;
  snapshot?: { floorRaw?: string; volumeAllTime?: number; supply?: number; owners?: number };
};
export type OrderRecord = OfToken & {
  kind: 'order';
  priceRaw: string;
  seller: string;
  createdAt: string;
  expiresAt?: string;
  status?: EndStatus;
  tx?: string;
};
export type ListingRecord = OfToken & {
  kind: 'listing';
  source: string;
  id?: string;
  priceRaw: string;
  buyerTotalRaw?: string;
  seller: string;
  orderHash?: string;
  timestamp: string;
  expiresAt?: string;
  status?: EndStatus;
  tx?: string;
};
export type SaleRecord = OfToken & {
  kind: 'sale';
  source: string;
  tokenIds?: string[];
  mints?: string[];
  price: string;
  seller?: string;
  buyer?: string;
  timestamp: string;
  listingId?: string;
  tx?: string;
  logIndex?: number;
};
export type TokenRecord = OfToken & {
  kind: 'token';
  name?: string;
  image?: string;
  rarityRank?: number;
  owner?: string;
  traits?: { name: string; value: string }[];
};
export type StatsRecord = InCollection & {
  kind: 'stats';
  owners?: number;
  listedCount?: number;
  supply?: number;
  floorRaw?: string;
  at?: string;
};
export type WindowFigures = { allTime?: number; sevenDay?: number; twentyFourHour?: number };
export type AnalyticsRecord = InCollection & {
  kind: 'analytics';
  floorRaw?: string;
  volume?: WindowFigures;
  sales?: WindowFigures;
  at?: string;
};
export type RateRecord = { kind: 'rate'; symbol: string; usd: number; at: string };
export type EndStatus = 'active' | 'filled' | 'cancelled' | 'expired';

export type MarketRecord =
  | CollectionRecord
  | OrderRecord
  | ListingRecord
  | SaleRecord
  | TokenRecord
  | StatsRecord
  | AnalyticsRecord
  | RateRecord;

/** Specification, "MarketItem": the address half of a canonical id is lower case on every chain. */
export function toCollectionId({ chain, contractAddress }: InCollection): string {
  return `${chain}_${contractAddress.toLowerCase()}`;
}

/** Records.md: an EVM address in upper or lower case, or the Solana address as written. */
export function toAddress(chain: string, address: string): string {
  return isEvm({ chain }) ? address.toLowerCase() : address;
}

const COMMON = 'kind chain contractAddress';
const TOKEN = `${COMMON} tokenId mint`;
/** Records, the table of kinds: their fields, as far as the runs use them. */
const FIELDS: Readonly<Record<MarketRecord['kind'], string>> = {
  collection: `${COMMON} slug name image description royaltyBps launched createdAt tokensComplete snapshot`,
  order: `${TOKEN} priceRaw seller createdAt expiresAt status tx`,
  listing: `${TOKEN} source priceRaw buyerTotalRaw seller id orderHash timestamp expiresAt status tx`,
  sale: `${TOKEN} tokenIds mints source price seller buyer timestamp listingId tx logIndex`,
  token: `${TOKEN} name image rarityRank owner traits`,
  stats: `${COMMON} owners listedCount supply floorRaw at`,
  analytics: `${COMMON} floorRaw volume sales at`,
  rate: 'kind symbol usd at',
};

const TIME = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Records: "An unknown field rejects the record". */
export function hasUnknownField(record: MarketRecord): boolean {
  const known = FIELDS[record.kind].split(' ');
  return Object.keys(record).some((name) => !known.includes(name));
}

/**
 * Records: "A record is rejected for: unknown fields, addresses that are not valid for their chain, amounts that are not base units", and times that are not
 * "ISO 8601 with Z or an offset". A `tokenId` is an amount, too.
 */
export function isRejected(record: MarketRecord): boolean {
  const { chain, contractAddress, ...fields } = record as unknown as Record<string, string | undefined>;
  const isOnEvm = isEvm({ chain: String(chain) });
  const valuesOf = (...names: string[]) => names.flatMap((name) => fields[name] ?? []);
  return (
    hasUnknownField(record) ||
    (record.kind !== 'rate' && !isAddress(String(contractAddress), isOnEvm)) ||
    valuesOf('seller', 'buyer', 'owner').some((account) => !isAddress(account, isOnEvm)) ||
    valuesOf('priceRaw', 'buyerTotalRaw', 'floorRaw', 'tokenId').some((amount) => !/^(?:0|[1-9]\d*)$/.test(amount)) ||
    valuesOf('timestamp', 'createdAt', 'expiresAt', 'at').some((time) => !TIME.test(time))
  );
}

/** Records, the table of `warnings`: "a price of 0. Or a floor or buyer total of 0", and "a buyer total below its price". */
export function warningOf(record: MarketRecord): 'zeroPrice' | 'lowBuyerTotal' | null {
  const { price, priceRaw, floorRaw, buyerTotalRaw } = record as unknown as Record<string, string | undefined>;
  const snapshotFloor = record.kind === 'collection' ? record.snapshot?.floorRaw : undefined;
  if ([price, priceRaw, floorRaw, buyerTotalRaw, snapshotFloor].includes('0')) return 'zeroPrice';
  return BigInt(buyerTotalRaw ?? priceRaw ?? 0) < BigInt(priceRaw ?? 0) ? 'lowBuyerTotal' : null;
}

function isAddress(text: string, isOnEvm: boolean): boolean {
  return isOnEvm ? /^0x[0-9a-fA-F]{40}$/.test(text) : /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text);
}
