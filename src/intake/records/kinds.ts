// Defines the kinds of records that an import accepts, and the fields of each kind. A nested field has a dot in its name. A record with a
// field that its kind does not have is rejected, so that a misspelt field is not ignored.

/** The type of a field in JSON. CSV cells and values of the command line are converted to this type. */
export type FieldType = 'text' | 'number' | 'boolean' | 'list' | 'object';

const ASSET = { chain: 'text', contractAddress: 'text', tokenId: 'text', mint: 'text' } as const;

export const KIND_FIELDS = {
  collection: {
    chain: 'text',
    contractAddress: 'text',
    slug: 'text',
    name: 'text',
    image: 'text',
    banner: 'text',
    description: 'text',
    tokenStandard: 'text',
    royaltyBps: 'number',
    launched: 'boolean',
    createdAt: 'text',
    tokensComplete: 'boolean',
    salesComplete: 'boolean',
    listingsComplete: 'boolean',
    'snapshot.floorRaw': 'text',
    'snapshot.volumeAllTime': 'number',
    'snapshot.supply': 'number',
    'snapshot.owners': 'number',
  },
  order: {
    chain: 'text',
    contractAddress: 'text',
    tokenId: 'text',
    priceRaw: 'text',
    seller: 'text',
    createdAt: 'text',
    expiresAt: 'text',
    endedAt: 'text',
    status: 'text',
    tx: 'text',
    'seaport.parameters': 'object',
    'seaport.signature': 'text',
  },
  listing: {
    source: 'text',
    ...ASSET,
    priceRaw: 'text',
    buyerTotalRaw: 'text',
    seller: 'text',
    id: 'text',
    orderHash: 'text',
    operator: 'text',
    protocolAddress: 'text',
    counter: 'text',
    quantity: 'text',
    partial: 'boolean',
    timestamp: 'text',
    expiresAt: 'text',
    endedAt: 'text',
    status: 'text',
    tx: 'text',
  },
  bid: {
    source: 'text',
    ...ASSET,
    tokenIds: 'list',
    mints: 'list',
    traits: 'list',
    priceRaw: 'text',
    proceedsRaw: 'text',
    currency: 'text',
    buyer: 'text',
    id: 'text',
    orderHash: 'text',
    quantity: 'text',
    remaining: 'text',
    timestamp: 'text',
    expiresAt: 'text',
    endedAt: 'text',
    status: 'text',
    tx: 'text',
  },
  sale: {
    source: 'text',
    ...ASSET,
    tokenIds: 'list',
    mints: 'list',
    price: 'text',
    seller: 'text',
    buyer: 'text',
    timestamp: 'text',
    listingId: 'text',
    tx: 'text',
    logIndex: 'number',
  },
  token: { ...ASSET, name: 'text', image: 'text', rarityRank: 'number', owner: 'text', traits: 'list' },
  stats: {
    chain: 'text',
    contractAddress: 'text',
    owners: 'number',
    listedCount: 'number',
    supply: 'number',
    floorRaw: 'text',
    at: 'text',
  },
  analytics: {
    chain: 'text',
    contractAddress: 'text',
    floorRaw: 'text',
    'volume.allTime': 'number',
    'volume.sevenDay': 'number',
    'volume.twentyFourHour': 'number',
    'sales.allTime': 'number',
    'sales.sevenDay': 'number',
    'sales.twentyFourHour': 'number',
    at: 'text',
  },
  rate: { symbol: 'text', usd: 'number', at: 'text' },
  product: {
    shop: 'text',
    name: 'text',
    price: 'text',
    slug: 'text',
    type: 'text',
    description: 'text',
    image: 'text',
    moreImages: 'list',
    inventory: 'number',
    trackInventory: 'boolean',
    requiresShipping: 'boolean',
    weightGrams: 'number',
    collection: 'text',
    collections: 'list',
    sku: 'text',
    barcode: 'text',
    externalId: 'text',
    status: 'text',
    compareAtPrice: 'text',
    groupId: 'text',
    options: 'list',
    metadata: 'object',
  },
} as const satisfies Record<string, Record<string, FieldType>>;

export type RecordKind = keyof typeof KIND_FIELDS;

export const RECORD_KINDS = Object.keys(KIND_FIELDS) as RecordKind[];

/**
 * Returns the type of a field by its dotted name, or null if there is no such field. If `kind` is null, returns the type of the field in
 * the first kind that has it.
 */
export function findFieldType(kind: RecordKind | null, field: string): FieldType | null {
  if (field === 'kind') return 'text';
  for (const known of kind === null ? RECORD_KINDS : [kind]) {
    const types: Record<string, FieldType> = KIND_FIELDS[known];
    if (Object.hasOwn(types, field)) return types[field] ?? null;
  }
  return null;
}

/** Returns the dotted name of the first field in `values` that this kind does not have, or null if there is none. */
export function findUnknownField(kind: RecordKind, values: Readonly<Record<string, unknown>>): string | null {
  const names = FIELD_NAMES[kind];
  for (const name of Object.keys(values)) {
    if (names.top.has(name)) continue;
    const nested = names.nested.get(name);
    if (!nested) return name;
    const value = values[name];
    if (typeof value !== 'object' || value === null) continue;
    const unknown = Object.keys(value).find((inner) => !nested.has(inner));
    if (unknown !== undefined) return `${name}.${unknown}`;
  }
  return null;
}

/** The field names of a kind. `top`: the fields outside nested objects. `nested`: the fields of each nested object, by its name. */
type FieldNames = { top: Set<string>; nested: Map<string, Set<string>> };

const FIELD_NAMES = Object.fromEntries(RECORD_KINDS.map((kind) => [kind, toFieldNames(kind)])) as Record<
  RecordKind,
  FieldNames
>;

function toFieldNames(kind: RecordKind): FieldNames {
  const names: FieldNames = { top: new Set(['kind']), nested: new Map() };
  for (const field of Object.keys(KIND_FIELDS[kind])) {
    const [outer = '', inner] = field.split('.');
    if (inner === undefined) names.top.add(outer);
    else names.nested.set(outer, (names.nested.get(outer) ?? new Set()).add(inner));
  }
  return names;
}
