// The OpenAPI schemas of POST /intake/v1/records: the records of each kind, and the events of the response. Requests are not validated by
// these schemas, but by the parser of records.

import type { TSchema } from 'typebox';
import Type from 'typebox';
import { EXAMPLE_COLLECTION, EXAMPLE_TIME, toExamplePrice } from '../../market/reads/http/example-collection.ts';
import { LISTING_EXAMPLE, SALE_EXAMPLE } from '../../market/reads/http/market-item.ts';
import { TRAIT_KINDS } from '../../market/index/queries/token-metadata.ts';
import { LISTING_STATUSES } from '../../market/orders/order-id.ts';
import { SET_TRAITS_MAX } from '../../market/orders/token-sets.ts';
import { PRODUCT_CREATE_EXAMPLE } from '../../shop/http/example-shop.ts';
import { newProductProperties } from '../../shop/http/product-schemas.ts';
import { closed, ref } from '../../platform/http/schema-builders.ts';
import { WARNING_CODES } from '../import-warnings.ts';
import type { FieldType, RecordKind } from '../records/kinds.ts';
import { KIND_FIELDS, RECORD_KINDS } from '../records/kinds.ts';
import { TRAIT_NAME_MAX, TRAIT_VALUE_MAX, TRAITS_MAX } from '../records/traits.ts';
import { ORDER_RECORD_EXAMPLE } from './example-order.ts';

/** The keywords of the schema of a field. If `type` is absent, the type is derived from `KIND_FIELDS`. */
type FieldDocument = { description: string; [keyword: string]: unknown };

type KindDocument<K extends RecordKind> = {
  description: string;
  /** A field with a dot in its name is required within its nested object. */
  required: readonly (keyof (typeof KIND_FIELDS)[K])[];
  /** At least one of these fields is required. */
  anyOf?: readonly (keyof (typeof KIND_FIELDS)[K])[];
  fields: Readonly<Record<keyof (typeof KIND_FIELDS)[K], FieldDocument>>;
  example: object;
};

const integer = (description: string, bounds: object = {}) => ({ type: 'integer', minimum: 0, ...bounds, description });
const number = (description: string) => ({ minimum: 0, description });
const texts = (description: string) => ({ items: { type: 'string' }, minItems: 1, description });
const time = (description: string) => ({ format: 'date-time', description });
const amount = (description: string) => ({
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description: `${description}, in base units as decimal text.`,
});

const collection = {
  chain: { description: 'Chain id.' },
  contractAddress: {
    description:
      'EVM contract address, or Solana collection mint. Upper and lower case are significant only on Solana.',
  },
};
const asset = {
  ...collection,
  tokenId: { description: 'EVM token id in decimal digits.' },
  mint: { description: 'Solana asset mint. Upper and lower case are significant.' },
};
const source = { description: 'Slug of the marketplace.', pattern: '^[a-z0-9][a-z0-9._-]{0,63}$' };
const status = { enum: LISTING_STATUSES, description: 'State; `active` when absent.' };
const expiresAt = time('When the listing expires. Absent for a listing without expiry.');
const endedAt = time(
  'When a listing that has ended was filled or cancelled. The floors of the past are derived from it.',
);
const tx = { description: 'Transaction hash (EVM) or signature (Solana).' };
const observedAt = time('When the figures were observed. If it is absent, the time of the import is used.');

const { chain, contractAddress, slug, name } = EXAMPLE_COLLECTION;
const exampleAsset = { chain, contractAddress, tokenId: LISTING_EXAMPLE.tokenId };

const TRAIT = {
  anyOf: [
    {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: TRAIT_NAME_MAX },
        value: { type: ['string', 'number'], maxLength: TRAIT_VALUE_MAX },
        kind: {
          enum: TRAIT_KINDS,
          description:
            'Kind of the value. If it is absent, the kind is `number` for a JSON number, and `text` for a string.',
        },
      },
      required: ['name', 'value'],
      additionalProperties: false,
    },
    { type: 'string', description: 'The name, a colon and the value: `Sky: Clear`.' },
  ],
};

const KIND_DOCUMENTS: { readonly [K in Exclude<RecordKind, 'product'>]: KindDocument<K> } = {
  collection: {
    description: 'A collection.',
    required: ['name'],
    anyOf: ['contractAddress', 'slug'],
    fields: {
      ...collection,
      slug: {
        minLength: 1,
        description:
          'Platform slug. It must be a single segment of a URL path, and must not look like an address or a collection id.',
      },
      name: { minLength: 1, description: 'Display name.' },
      image: { description: 'Image URL.' },
      banner: { description: 'Banner image URL.' },
      description: { description: 'Description.' },
      tokenStandard: { description: 'Token standard, such as ERC-721.' },
      royaltyBps: integer('Royalty in basis points.', { maximum: 10_000 }),
      launched: { description: 'Whether the service launched the collection. Such collections come first in lists.' },
      createdAt: time('When the collection was created.'),
      tokensComplete: { description: 'True if all tokens of the collection are imported.' },
      salesComplete: {
        description: 'True if all sales of the collection are imported, from the first one up to the newest one.',
      },
      listingsComplete: {
        description:
          'True if all listings of the collection are imported, also those that have ended. The floors of the past are then derived from them.',
      },
      'snapshot.floorRaw': amount('Floor'),
      'snapshot.volumeAllTime': number('All-time volume in native units.'),
      'snapshot.supply': integer('Number of tokens.'),
      'snapshot.owners': integer('Number of distinct owners.'),
    },
    example: { kind: 'collection', chain, contractAddress, slug, name, royaltyBps: 500, snapshot: { supply: 420 } },
  },
  order: {
    description: 'An order of this service (EVM chains only).',
    required: [
      'chain',
      'contractAddress',
      'tokenId',
      'priceRaw',
      'seller',
      'createdAt',
      'seaport.parameters',
      'seaport.signature',
    ],
    fields: {
      ...collection,
      tokenId: asset.tokenId,
      priceRaw: amount('What the seller receives for one unit'),
      seller: { description: 'Address of the seller.' },
      createdAt: time('When the order was created. It is part of the order id.'),
      expiresAt,
      endedAt,
      status,
      tx,
      'seaport.parameters': {
        description: 'The components of the signed Seaport order, with `counter`.',
        additionalProperties: true,
      },
      'seaport.signature': { pattern: '^0x([0-9a-fA-F]{2})+$', description: 'The signature of the order.' },
    },
    example: ORDER_RECORD_EXAMPLE,
  },
  listing: {
    description: 'A listing of another marketplace, or a listing of this service on Solana.',
    required: ['source', 'chain', 'contractAddress', 'priceRaw', 'seller', 'timestamp'],
    anyOf: ['tokenId', 'mint'],
    fields: {
      source,
      ...asset,
      priceRaw: amount('What the seller asks'),
      buyerTotalRaw: amount('What a buyer pays in all'),
      seller: { description: 'Address of the seller.' },
      id: { minLength: 1, description: 'Id of the listing at its marketplace.' },
      orderHash: { minLength: 1, description: 'Hash of the signed order.' },
      operator: {
        description: 'The account that must be approved to transfer the token before the order can be filled.',
      },
      protocolAddress: { description: 'The deployment of Seaport that the order was signed for.' },
      counter: { pattern: amount('').pattern, description: 'The counter that the order was signed with.' },
      quantity: { pattern: '^[1-9][0-9]{0,77}$', description: 'Units in the order; 1 when absent.' },
      partial: { description: 'Whether the order can be filled in parts.' },
      timestamp: time('When the listing was created.'),
      expiresAt,
      endedAt,
      status,
      tx,
    },
    example: {
      kind: 'listing',
      source: LISTING_EXAMPLE.marketplace,
      ...exampleAsset,
      priceRaw: LISTING_EXAMPLE.price.raw,
      buyerTotalRaw: toExamplePrice(445n).raw,
      seller: LISTING_EXAMPLE.seller,
      id: LISTING_EXAMPLE.orderId,
      timestamp: LISTING_EXAMPLE.timestamp,
      expiresAt: LISTING_EXAMPLE.expiresAt,
    },
  },
  bid: {
    description:
      'An offer to buy that a marketplace reports: for one token, for the tokens of a set, or for any token of the collection. Bids that are signed for this service are submitted to `/intake/v1/orders`.',
    required: ['source', 'chain', 'contractAddress', 'priceRaw', 'buyer', 'timestamp'],
    fields: {
      source,
      ...collection,
      tokenId: { description: 'The wanted EVM token, in decimal digits. Absent if several tokens meet the bid.' },
      mint: { description: 'The wanted Solana asset mint. Absent if several tokens meet the bid.' },
      tokenIds: texts('Ids of the tokens of a set, any of which meets the bid.'),
      mints: texts('Mints of a set, any of which meets the bid.'),
      traits: {
        description:
          'The traits that each token of a set has. Without `tokenIds` or `mints`, the set has the tokens that are stored with all these traits.',
        minItems: 1,
        maxItems: SET_TRAITS_MAX,
        items: TRAIT,
      },
      priceRaw: amount('What the bidder pays for one unit'),
      proceedsRaw: amount(
        'What the seller keeps of the price of one unit, after fees; the price when absent. Offers are compared by it',
      ),
      currency: {
        description:
          'Contract of the ERC-20 currency in which the bid is paid, one that the setting `CURRENCIES` names; both amounts are in its base units. Absent for the native currency, wrapped or not.',
      },
      buyer: { description: 'Address of the bidder.' },
      id: { minLength: 1, description: 'Id of the bid at its marketplace.' },
      orderHash: { minLength: 1, description: 'Hash of the signed order.' },
      quantity: { pattern: '^[1-9][0-9]{0,77}$', description: 'Number of units that the bidder buys; 1 when absent.' },
      remaining: {
        pattern: amount('').pattern,
        description: 'How many of these units can still be sold to the bidder; all when absent.',
      },
      timestamp: time('When the bid was made.'),
      expiresAt: time('When the bid expires. Absent for a bid without expiry.'),
      endedAt: time('When a bid that has ended was filled or cancelled.'),
      status,
      tx,
    },
    example: {
      kind: 'bid',
      source: LISTING_EXAMPLE.marketplace,
      chain,
      contractAddress,
      priceRaw: toExamplePrice(400n).raw,
      proceedsRaw: toExamplePrice(390n).raw,
      buyer: SALE_EXAMPLE.buyer,
      quantity: '3',
      timestamp: LISTING_EXAMPLE.timestamp,
      expiresAt: LISTING_EXAMPLE.expiresAt,
    },
  },
  sale: {
    description: 'A completed sale.',
    required: ['source', 'chain', 'contractAddress', 'price', 'timestamp'],
    anyOf: ['tokenId', 'mint', 'tokenIds', 'mints'],
    fields: {
      source,
      ...asset,
      tokenIds: texts('Ids of the tokens of a bundle, instead of `tokenId`. The price is for all tokens together.'),
      mints: texts('Mints of a bundle, instead of `mint`. The price is for all tokens together.'),
      price: {
        type: ['string', 'number'],
        minLength: 1,
        description:
          'Stored as received. An integer with leading zeros is rejected. A price that is not an integer of base units as decimal text is stored, but /v1 does not serve the sale, and /explore/v1 serves it without a price.',
      },
      seller: { description: 'Address of the seller.' },
      buyer: { description: 'Address of the buyer.' },
      timestamp: time('When the sale was completed.'),
      listingId: { minLength: 1, description: 'Id of the listing that the sale filled.' },
      tx,
      logIndex: integer('Index of the EVM log of the sale in its block.', { maximum: 2 ** 31 - 1 }),
    },
    example: {
      kind: 'sale',
      source: SALE_EXAMPLE.marketplace,
      ...exampleAsset,
      tokenId: SALE_EXAMPLE.tokenId,
      price: SALE_EXAMPLE.price.raw,
      seller: SALE_EXAMPLE.seller,
      buyer: SALE_EXAMPLE.buyer,
      timestamp: SALE_EXAMPLE.timestamp,
      tx: SALE_EXAMPLE.tx,
      logIndex: 149,
    },
  },
  token: {
    description: 'A token.',
    required: ['chain', 'contractAddress'],
    anyOf: ['tokenId', 'mint'],
    fields: {
      ...asset,
      name: { description: 'Name.' },
      image: { description: 'Image URL.' },
      rarityRank: integer('Rarity rank; 1 is rarest.', { minimum: 1 }),
      owner: { description: 'Address of the owner.' },
      traits: {
        description: 'All traits of the token; an empty array for a token without traits.',
        maxItems: TRAITS_MAX,
        items: TRAIT,
      },
    },
    example: {
      kind: 'token',
      ...exampleAsset,
      name: `${name} #249`,
      rarityRank: 211,
      owner: LISTING_EXAMPLE.seller,
      traits: [{ name: 'Sky', value: 'Clear' }],
    },
  },
  stats: {
    description: 'Figures of a collection, as a source reports them.',
    required: ['chain', 'contractAddress'],
    fields: {
      ...collection,
      owners: integer('Number of distinct owners.'),
      listedCount: integer('Number of listed assets.'),
      supply: integer('Number of tokens.'),
      floorRaw: amount('Floor'),
      at: observedAt,
    },
    example: {
      kind: 'stats',
      chain,
      contractAddress,
      owners: 137,
      listedCount: 268,
      supply: 420,
      floorRaw: LISTING_EXAMPLE.price.raw,
      at: EXAMPLE_TIME,
    },
  },
  analytics: {
    description: 'Trading figures of a collection, as a source reports them.',
    required: ['chain', 'contractAddress'],
    fields: {
      ...collection,
      floorRaw: amount('Floor'),
      'volume.allTime': number('Volume of all time in native units.'),
      'volume.sevenDay': number('Volume of the last seven days in native units.'),
      'volume.twentyFourHour': number('Volume of the last 24 hours in native units.'),
      'sales.allTime': integer('Number of sales of all time.'),
      'sales.sevenDay': integer('Number of sales of the last seven days.'),
      'sales.twentyFourHour': integer('Number of sales of the last 24 hours.'),
      at: observedAt,
    },
    example: {
      kind: 'analytics',
      chain,
      contractAddress,
      volume: { allTime: 179.7, sevenDay: 9.915, twentyFourHour: 4.604 },
      sales: { allTime: 378, sevenDay: 18, twentyFourHour: 7 },
      at: EXAMPLE_TIME,
    },
  },
  rate: {
    description: 'A dollar rate.',
    required: ['symbol', 'usd', 'at'],
    fields: {
      symbol: { description: 'Symbol of the native currency of a chain.' },
      usd: { exclusiveMinimum: 0, description: 'US dollars for one native unit.' },
      at: time('When the rate was observed.'),
    },
    example: { kind: 'rate', symbol: 'ETH', usd: 2_500, at: EXAMPLE_TIME },
  },
};

const JSON_TYPES: Readonly<Record<FieldType, string>> = {
  text: 'string',
  number: 'number',
  boolean: 'boolean',
  list: 'array',
  object: 'object',
};

const PRODUCT_RECORD_SCHEMA = Type.Object(
  {
    kind: Type.Literal('product', { description: 'The kind of the record.' }),
    shop: Type.String({ minLength: 1, description: 'Name or id of the shop.' }),
    ...newProductProperties,
  },
  {
    $id: 'ProductRecord',
    title: 'ProductRecord',
    description:
      'A product of a shop. The fields are those of a new product in the store interface. The API key must belong to the shop.',
    examples: [{ kind: 'product', shop: 'harbour-shop', ...PRODUCT_CREATE_EXAMPLE }],
    ...closed,
  },
);

function toSchemaId(kind: RecordKind): string {
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}Record`;
}

function toRecordSchema(kind: RecordKind): TSchema {
  if (kind === 'product') return PRODUCT_RECORD_SCHEMA;
  const { description, required, anyOf, fields, example }: DocumentedKind = KIND_DOCUMENTS[kind];
  const types: Readonly<Record<string, FieldType>> = KIND_FIELDS[kind];
  const rows = Object.entries(types).map(([path, type]) => {
    const isRequired = required.includes(path);
    return { path, isRequired, schema: toFieldSchema(type, isRequired, fields[path]) };
  });
  const { properties, required: names } = toObjectSchema(rows);
  return Type.Unsafe({
    type: 'object',
    properties: { kind: { type: 'string', enum: [kind], description: 'The kind of the record.' }, ...properties },
    required: ['kind', ...names],
    ...(anyOf && { anyOf: anyOf.map((name) => ({ properties: { [name]: { type: 'string' } }, required: [name] })) }),
    ...closed,
    $id: toSchemaId(kind),
    title: toSchemaId(kind),
    description,
    examples: [example],
  });
}

/** A `KindDocument` with the kinds' field names as plain text, for code that handles every kind. */
type DocumentedKind = Omit<KindDocument<RecordKind>, 'required' | 'anyOf' | 'fields'> & {
  required: readonly string[];
  anyOf?: readonly string[];
  fields: Readonly<Record<string, FieldDocument>>;
};

type FieldRow = { path: string; isRequired: boolean; schema: object };

/** The properties of an object with these fields. Fields whose paths have the same beginning before the dot form one nested object. */
function toObjectSchema(rows: readonly FieldRow[]): { properties: Record<string, object>; required: string[] } {
  const groups = Map.groupBy(rows, ({ path }) => path.split('.', 1)[0] ?? '');
  const properties: Record<string, object> = {};
  for (const [name, group] of groups) {
    const [first] = group;
    if (first?.path === name) properties[name] = first.schema;
    else {
      const nested = group.map((row) => ({ ...row, path: row.path.slice(name.length + 1) }));
      properties[name] = { type: ['object', 'null'], ...toObjectSchema(nested), ...closed };
    }
  }
  return {
    properties,
    required: rows.filter((row) => row.isRequired && row.path in properties).map(({ path }) => path),
  };
}

/** The schema of a field. An optional field may be null, which means that it is absent. */
function toFieldSchema(type: FieldType, isRequired: boolean, document: FieldDocument | undefined): object {
  const { type: given = JSON_TYPES[type], enum: values, ...keywords } = document ?? { description: '' };
  if (isRequired) return { type: given, ...(Array.isArray(values) && { enum: values }), ...keywords };
  return { type: [given, 'null'].flat(), ...(Array.isArray(values) && { enum: [...values, null] }), ...keywords };
}

const count = (description: string) => Type.Integer({ minimum: 0, description });
const counts = {
  inserted: count('Records that were stored as new rows.'),
  updated: count('Records that changed stored rows.'),
  unchanged: count('Records that changed nothing.'),
  conflict: count(
    'Sales that are already stored with other values, such as another price, and listings that are already stored with another token. These records changed nothing.',
  ),
  refused: count('Records that were rejected.'),
};
const soFar = {
  read: count('Records that were read: the sum of the other counts of records.'),
  ...counts,
  skippedLines: count(
    'The lines of rejected CSV rows and of malformed parts of JSON files. The first line of each row or part is not counted.',
  ),
};
const warningSchema = Type.Object(
  {
    count: Type.Integer({ minimum: 1, description: 'The number of records with this warning.' }),
    line: Type.Integer({ minimum: 1, description: 'The line of the first of these records.' }),
    value: Type.String({ description: 'The price, the time or the slug of the first of these records.' }),
  },
  closed,
);
const summary = {
  ...soFar,
  byKind: Type.Object(
    {},
    {
      description: 'The counts of each kind of record.',
      additionalProperties: Type.Object(counts, closed),
    },
  ),
  warnings: Type.Object(Object.fromEntries(WARNING_CODES.map((code) => [code, Type.Optional(warningSchema)])), {
    description: 'Accepted records that are probably wrong.',
    ...closed,
  }),
  unknownCollections: Type.Union(
    [Type.Object({}, { additionalProperties: Type.Integer({ minimum: 1 }) }), Type.Null()],
    {
      description:
        'For each collection that has no collection record: the number of imported records that name the collection, by collection id. Null if the import ended early.',
    },
  ),
  createdCollections: Type.Array(Type.String(), {
    description:
      'The ids of the collections for which `createCollections` created a collection record. At most 5000 ids.',
  }),
  moreCreatedCollections: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The number of created collections that `createdCollections` leaves out.',
    }),
  ),
  collections: Type.Array(Type.String(), { description: 'The ids of the imported collection records, at most 10000.' }),
  seconds: Type.Number({ minimum: 0, description: 'How long the import took.' }),
  imports: Type.Array(Type.String({ pattern: '^imp_[0-9a-f]{32}$' }), {
    description: 'The id of the import, with which the operator can take it back. Empty after a dry run.',
  }),
};
const event = (name: string, description: string, members: Record<string, TSchema>) =>
  Type.Object({ event: Type.Literal(name), ...members }, { description, ...closed });

const NO_COUNTS = { inserted: 0, updated: 0, unchanged: 0, conflict: 0, refused: 0 };
const INSERTED = { ...NO_COUNTS, inserted: 1 };

/** The events of the response to `BODY_EXAMPLE`. */
const EVENT_EXAMPLES = [
  { event: 'progress', read: 2, ...NO_COUNTS, inserted: 2, skippedLines: 0 },
  {
    event: 'done',
    read: 2,
    ...NO_COUNTS,
    inserted: 2,
    skippedLines: 0,
    byKind: { collection: INSERTED, listing: INSERTED },
    warnings: {},
    unknownCollections: {},
    createdCollections: [],
    collections: [`${chain}_${contractAddress}`],
    seconds: 0.02,
    imports: ['imp_019aa5c0e80000001f0c5b7d92e64a38'],
  },
];

const IMPORT_EVENT_SCHEMA = Type.Unsafe({
  $id: 'ImportEvent',
  title: 'ImportEvent',
  description: 'One line of the response. The last line of a complete response is `done` or `error`.',
  anyOf: [
    event('refused', 'A record was rejected.', {
      line: Type.Integer({ minimum: 1, description: 'The line on which the record begins.' }),
      reason: Type.String({ description: 'Why the record was rejected.' }),
    }),
    event('conflict', 'The sale or listing is already stored with other values, so the record changed nothing.', {
      line: Type.Integer({ minimum: 1, description: 'The line on which the record begins.' }),
      reason: Type.String({
        description: 'The values that differ: as they are stored, and as they are in the record.',
      }),
    }),
    event(
      'omitted',
      'Further records that were rejected or changed nothing have no event, because the response would be too long.',
      {
        count: Type.Integer({ minimum: 1, description: 'The number of these records.' }),
      },
    ),
    event('progress', 'The counts so far, after each batch.', soFar),
    event('done', 'The import has ended.', summary),
    event('error', 'The import has failed.', {
      message: Type.String({ description: 'When the import stopped, and why.' }),
      reason: Type.String({ description: 'Why the import stopped.' }),
      summary: Type.Object(summary, { description: 'The summary of the import up to the failure.', ...closed }),
    }),
  ],
  examples: EVENT_EXAMPLES,
});

const IMPORT_RECORD_SCHEMA = Type.Unsafe({
  $id: 'ImportRecord',
  title: 'ImportRecord',
  description:
    'A record of any kind. A record with an unknown field is rejected. An optional field that is null counts as absent.',
  oneOf: RECORD_KINDS.map((kind) => ref(toSchemaId(kind))),
  discriminator: { propertyName: 'kind' },
});

export const IMPORT_SCHEMAS: TSchema[] = [
  IMPORT_RECORD_SCHEMA,
  ...RECORD_KINDS.map(toRecordSchema),
  IMPORT_EVENT_SCHEMA,
];

function toLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/**
 * The schema of a text whose lines are JSON values of a component schema. The schema has no `contentMediaType`, because Swagger UI shows no
 * example for a schema with this keyword.
 */
function linesOf(schemaId: string, description: string): TSchema {
  return Type.Unsafe({ type: 'string', description, contentSchema: ref(schemaId) });
}

const BODY_EXAMPLE = toLines([KIND_DOCUMENTS.collection.example, KIND_DOCUMENTS.listing.example]);

/** The example body for the description of the operation. Swagger UI shows the example in the schema with escaped quotes. */
export const BODY_EXAMPLE_TEXT = `A body of two records:\n\n\`\`\`json\n${BODY_EXAMPLE}\`\`\``;

export const IMPORT_BODY = {
  content: {
    'application/x-ndjson': {
      schema: {
        ...linesOf('ImportRecord', 'Records, one on each line: each line is an `ImportRecord`.'),
        examples: [BODY_EXAMPLE],
      },
    },
    'text/csv': {
      schema: {
        type: 'string',
        description: 'A table with a header. The parameter `map` says which column has which field.',
        examples: [`token_id,price,date\n${SALE_EXAMPLE.tokenId},0.56,2025-09-17 14:42:45\n`],
      },
    },
  },
};

export const IMPORT_RESPONSE = {
  description: 'JSON events, one on each line.',
  content: {
    'application/x-ndjson': {
      schema: linesOf('ImportEvent', 'Events, one on each line: each line is an `ImportEvent`.'),
      example: toLines(EVENT_EXAMPLES),
    },
  },
};
