// The wire shapes of the marketplace interface: these schemas are its documentation, and its TypeScript types come from
// them, so that what is written and what is promised cannot part.

import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { PUBLISHED_CHAIN_IDS } from '../../core/chains.ts';

/** Nullable in the short form of JSON Schema. The static type is given, because the short form has none. */
const nullable = <T>(type: 'string' | 'number' | 'integer' | 'boolean', description: string, more: object = {}) =>
  Type.Unsafe<T | null>({ type: [type, 'null'], description, ...more });
const ref = <T>(name: string) => Type.Unsafe<T>({ $ref: `${name}#` });
const refOrNull = <T>(name: string, description: string) =>
  Type.Unsafe<T | null>({ anyOf: [{ $ref: `${name}#` }, { type: 'null' }], description });
const closed = { additionalProperties: false };

const chainId = Type.Unsafe<string>({
  type: 'string',
  enum: PUBLISHED_CHAIN_IDS,
  description: 'One of the chain values.',
});
const RAW_PATTERN = '^(0|[1-9][0-9]{0,77})$';
const dateTime = { format: 'date-time' };

export const PriceSchema = Type.Object(
  {
    raw: Type.String({
      pattern: RAW_PATTERN,
      description: 'Integer base units (wei or lamports) as a decimal string. Do arithmetic on this field.',
    }),
    decimal: Type.Number({ description: 'Native units as a number; loses precision on large amounts.' }),
    currency: Type.String({ description: 'Native currency symbol of the chain.' }),
    usd: nullable<number>('number', 'Best-effort US dollars; null when no fresh rate is known.'),
  },
  { $id: 'Price', title: 'Price', description: 'An amount. All four fields are always present.', ...closed },
);
export type WirePrice = Static<typeof PriceSchema>;

export const MARKET_ITEM_STATUSES = ['active', 'filled', 'cancelled', 'expired', 'sold'] as const;

export const MarketItemSchema = Type.Object(
  {
    chain: chainId,
    contractAddress: nullable<string>('string', 'EVM contract address, lower case; null for Solana items.'),
    tokenId: nullable<string>('string', 'EVM token id as a decimal string; null for Solana items.'),
    mint: nullable<string>('string', 'Solana asset id in base58, case preserved; null for EVM items.'),
    collectionId: Type.String({
      description: 'Canonical collection id. Opaque: pass it back as `{id}`, compare for equality.',
    }),
    price: ref<WirePrice>('Price'),
    seller: nullable<string>('string', 'Address of the seller.'),
    buyer: nullable<string>('string', 'Address of the buyer; null while nobody has bought.'),
    marketplace: Type.String({
      description: "An upper-case code for the service's own rows, the lower-case source slug for external rows.",
    }),
    status: Type.Unsafe<(typeof MARKET_ITEM_STATUSES)[number]>({
      type: 'string',
      enum: MARKET_ITEM_STATUSES,
      description: 'State of the listing or sale.',
    }),
    expiresAt: nullable<string>('string', 'When the listing expires; null when it does not.', dateTime),
    timestamp: Type.String({ ...dateTime, description: 'When the listing was made, or the sale completed.' }),
    orderId: nullable<string>('string', 'Opaque, stable join key. Compare for equality only, never parse it.'),
    tx: nullable<string>('string', 'Transaction hash or signature; null for rows that are only off-chain.'),
  },
  {
    $id: 'MarketItem',
    title: 'MarketItem',
    description: 'A listing or a sale. All fields are always present.',
    ...closed,
  },
);
export type WireMarketItem = Static<typeof MarketItemSchema>;

const count = (description: string) => nullable<number>('number', description, { minimum: 0 });
const windows = (unit: string) =>
  Type.Object(
    {
      allTime: count(`${unit}, all time.`),
      sevenDay: count(`${unit}, the last seven days.`),
      twentyFourHour: count(`${unit}, the last 24 hours.`),
    },
    { description: `${unit}. Null means unknown right now, never zero.`, ...closed },
  );

const identity = {
  id: Type.String({ description: 'Canonical collection id.' }),
  chain: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    enum: [...PUBLISHED_CHAIN_IDS, null],
    description: 'Chain value, or null when the collection is on none.',
  }),
  contractAddress: nullable<string>(
    'string',
    'EVM contract (lower case) or Solana collection mint (case preserved): the address to use on-chain.',
  ),
  name: Type.String({ description: 'Display name.' }),
  slug: nullable<string>('string', 'Platform slug; usable as `{id}`.'),
  image: nullable<string>('string', 'Image URL.'),
  banner: nullable<string>('string', 'Banner image URL.'),
  description: nullable<string>('string', 'Plain text as given by its author, never markup.'),
  tokenStandard: nullable<string>('string', 'Token standard, such as ERC-721.'),
  royaltyBps: nullable<number>('number', 'Royalty in basis points.'),
};
const floorMember = refOrNull<WirePrice>('Price', 'Cheapest seller ask; null when unknown.');

export const CollectionSummarySchema = Type.Object(
  {
    ...identity,
    stats: Type.Object(
      {
        floor: floorMember,
        volumeAllTime: count('Native units, best effort.'),
        supply: count('Number of tokens.'),
        owners: count('Number of distinct owners.'),
      },
      { description: 'What is known right now. Null means unknown, never zero.', ...closed },
    ),
  },
  { $id: 'CollectionSummary', title: 'CollectionSummary', description: 'A collection in a list.', ...closed },
);
export type WireCollectionSummary = Static<typeof CollectionSummarySchema>;

export const CollectionDetailSchema = Type.Object(
  {
    ...identity,
    stats: Type.Object(
      {
        floor: floorMember,
        volume: windows('Volume in native units'),
        sales: windows('Number of sales'),
        supply: count('Number of tokens.'),
        owners: count('Number of distinct owners.'),
        listedCount: count('Number of listed assets.'),
      },
      { description: 'What is known right now. Null means unknown, never zero.', ...closed },
    ),
    stale: Type.Boolean({ description: 'True only when both stats sources failed.' }),
  },
  { $id: 'CollectionDetail', title: 'CollectionDetail', description: 'One collection.', ...closed },
);
export type WireCollectionDetail = Static<typeof CollectionDetailSchema>;

export const FloorSchema = Type.Object(
  {
    collectionId: Type.String({ description: 'Canonical collection id.' }),
    askFloor: refOrNull<WirePrice>('Price', 'Cheapest seller ask.'),
    buyerFloor: refOrNull<WirePrice>('Price', 'What the cheapest fill costs a buyer in all, fees included.'),
    aggregated: Type.Literal(true, { description: 'Always true.' }),
    updatedAt: Type.String({ ...dateTime, description: 'Time of this response, not of the observation.' }),
    stale: Type.Boolean({ description: 'True when `buyerFloor` is the last one that could be resolved.' }),
  },
  { $id: 'FloorResponse', title: 'FloorResponse', description: 'The floors of a collection.', ...closed },
);
export type WireFloor = Static<typeof FloorSchema>;

export const TokenDetailSchema = Type.Object(
  {
    chain: chainId,
    contractAddress: nullable<string>('string', 'EVM contract address; null for Solana tokens.'),
    tokenId: nullable<string>('string', 'EVM token id; null for Solana tokens.'),
    mint: nullable<string>('string', 'Solana asset id; null for EVM tokens.'),
    collectionId: Type.String({ description: 'Canonical collection id.' }),
    name: nullable<string>('string', 'Name of the token.'),
    image: nullable<string>('string', 'Image URL.'),
    rarity: Type.Object({ rank: count('Rarity rank; 1 is rarest.') }, { description: 'Rarity.', ...closed }),
    owner: Type.Object(
      {
        address: nullable<string>('string', 'Address of the owner; withheld when kind is custody.'),
        kind: Type.Unsafe<'wallet' | 'custody' | 'unknown'>({
          type: 'string',
          enum: ['wallet', 'custody', 'unknown'],
          description: 'What kind of owner it is.',
        }),
        label: nullable<string>('string', 'Label of the custody wallet.'),
      },
      { description: 'Beneficial owner: for a listed token the seller, never the shared custody wallet.', ...closed },
    ),
    listing: refOrNull<WireMarketItem>('MarketItem', 'Active listing, if any.'),
    lastSale: Type.Unsafe<{ price: WirePrice } | null>({
      anyOf: [
        { type: 'object', properties: { price: { $ref: 'Price#' } }, required: ['price'], additionalProperties: false },
        { type: 'null' },
      ],
      description: 'Price of the last sale; null without one or when its price could not be interpreted.',
    }),
  },
  { $id: 'TokenDetail', title: 'TokenDetail', description: 'One token.', ...closed },
);
export type WireToken = Static<typeof TokenDetailSchema>;

export const PaginationSchema = Type.Object(
  {
    nextCursor: nullable<string>('string', 'Opaque cursor of the next page; null on the last one.'),
    hasMore: Type.Boolean({ description: 'The only termination signal.' }),
  },
  { $id: 'Pagination', title: 'Pagination', description: 'Where a list goes on.', ...closed },
);

export const ErrorSchema = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.Unsafe<string>({
          type: 'string',
          enum: [
            'bad_request',
            'not_found',
            'method_not_allowed',
            'rate_limited',
            'upstream_error',
            'unavailable',
            'internal_error',
          ],
          description: 'What kind of error it is.',
        }),
        message: Type.String({ description: 'For people: what is wrong and how to mend it.' }),
      },
      { description: 'The error.', ...closed },
    ),
  },
  { $id: 'Error', title: 'Error', description: 'The body of every answer that is not a success.', ...closed },
);

export const IndexSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the service.' }),
    version: Type.String({ description: 'Version of the service.' }),
    documentation: Type.String({ description: 'Where the reference page is.' }),
    openapi: Type.String({ description: 'Where the OpenAPI document is.' }),
    endpoints: Type.Array(
      Type.Object(
        {
          method: Type.String({ description: 'HTTP method.' }),
          path: Type.String({ description: 'Path template.' }),
          description: Type.String({ description: 'What it answers.' }),
        },
        closed,
      ),
      { description: 'Every endpoint of the interface.' },
    ),
  },
  { $id: 'Index', title: 'Index', description: 'What the interface offers.', ...closed },
);
export type WireIndex = Static<typeof IndexSchema>;

/** All schemas that the document names under `components/schemas`. */
export const COMPONENT_SCHEMAS = [
  PriceSchema,
  MarketItemSchema,
  CollectionSummarySchema,
  CollectionDetailSchema,
  FloorSchema,
  TokenDetailSchema,
  PaginationSchema,
  IndexSchema,
  ErrorSchema,
];

/** `{data: …}` around one thing. */
export const wrapped = (name: string) =>
  Type.Object({ data: ref<unknown>(name) }, { description: 'Success.', ...closed });

/** `{data: […], pagination}` around a page, with what else a list may carry. */
export const paged = (name: string, more: Record<string, TSchema> = {}) =>
  Type.Object(
    {
      data: Type.Array(ref<unknown>(name), { description: 'The rows of this page.' }),
      pagination: ref('Pagination'),
      ...more,
    },
    { description: 'A page.', ...closed },
  );

export const ListingsMetaSchema = Type.Object(
  {
    stale: Type.Literal(true, { description: 'Always true when `meta` is there.' }),
    staleSources: Type.Array(Type.String(), { description: 'The sources that could not be read.' }),
  },
  { description: 'Present only when a source was degraded.', ...closed },
);

export const limitSchema = Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Rows a page.' });
export const cursorSchema = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'A `nextCursor`, passed back verbatim.',
});
export const chainSchema = chainId;
