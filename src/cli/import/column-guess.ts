// Guesses the field of each column of a foreign file, from the names of the columns and the values of the first rows. The person who
// imports checks and edits the guess.

import { parseTime } from '../../core/time.ts';
import type { ChainFamily } from '../../core/address.ts';
import type { Chain, Chains } from '../../core/chains.ts';
import type { ColumnSource, FieldSource } from '../../intake/csv/column-map.ts';
import { PLACEHOLDER } from '../../intake/csv/column-map.ts';
import type { Conversion } from '../../intake/csv/conversions.ts';
import { createConversion } from '../../intake/csv/conversions.ts';
import type { RecordKind } from '../../intake/records/kinds.ts';

/** A column and its values in the first rows, without blank values. */
export type SampledColumn = { name: string; samples: readonly string[] };

/** The guessed map, and notes about what the person should check. */
export type Guess = { kind: RecordKind; map: Record<string, FieldSource>; notes: string[] };

/** How a field is found: the names of its column in order of preference, and the check of the column's values. */
type FieldRule = { names: readonly string[]; accepts: (samples: readonly string[]) => Partial<ColumnSource> | null };

const all = (samples: readonly string[], form: RegExp) =>
  samples.length > 0 && samples.every((sample) => form.test(sample.trim()));

const asIs = (form: RegExp) => (samples: readonly string[]) => (all(samples, form) ? {} : null);
const anyText = asIs(/./su);

const EVM_ADDRESS = /^0x[0-9a-f]{1,40}$/i;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

function acceptAddress(samples: readonly string[]): Partial<ColumnSource> | null {
  if (all(samples, EVM_ADDRESS) || all(samples, BASE58)) return {};
  if (all(samples, /^\\x[0-9a-f]{40}$/i)) return { as: ['bytea'] };
  return all(samples, /(0x[0-9a-f]{40})$/i) ? { pattern: '(0x[0-9a-fA-F]{40})$' } : null;
}

/** Whether the values only number the rows. */
function areRowNumbers(samples: readonly string[]): boolean {
  const first = Number(samples[0]);
  return samples.length > ROW_NUMBERS_MIN && samples.every((sample, index) => Number(sample) === first + index);
}

const ROW_NUMBERS_MIN = 5;

function acceptSoldTokenId(samples: readonly string[]): Partial<ColumnSource> | null {
  return areRowNumbers(samples) ? null : acceptTokenId(samples);
}

function acceptTokenId(samples: readonly string[]): Partial<ColumnSource> | null {
  if (all(samples, /^\d{1,78}$/)) return {};
  if (all(samples, /^\d{1,78}\.0$/)) return { pattern: '^(\\d+)\\.0$' };
  return all(samples, /#\d+$/) ? { pattern: '#(\\d+)$' } : null;
}

const DATE_PATTERNS = [
  'MM/DD/YYYY',
  'DD/MM/YYYY',
  'MM/DD/YY',
  'DD/MM/YY',
  'DD.MM.YYYY',
  'D MMM YYYY',
  'MMM D, YYYY',
  'YYYY/MM/DD',
];
const TIME_PATTERNS = ['', ' HH:mm:ss', ' HH:mm', ' H:mm:ss A', ' H:mm A'];
const TIMES: readonly Conversion[] = [
  'utc-time',
  ...DATE_PATTERNS.flatMap((date) => TIME_PATTERNS.map((time) => `date:${date}${time}` as const)),
];

/** All conversions that read every sample as a time. There are several if day and month cannot be told apart. */
function findTimes(samples: readonly string[]): Conversion[] {
  const terms = { chain: undefined, currency: null, times: null };
  const reads = (conversion: Conversion) => {
    const convert = createConversion(conversion);
    return samples.every((sample) => parseTime(String(convert(sample.trim(), terms))) !== null);
  };
  return samples.length === 0 ? [] : TIMES.filter(reads);
}

function acceptTime(samples: readonly string[]): Partial<ColumnSource> | null {
  const [conversion] = findTimes(samples);
  return conversion === undefined ? null : { as: [conversion] };
}

/** Numbers from this limit on are base units, because no sale costs a trillion native units. */
const BASE_UNITS_MIN = 1e12;

function acceptPrice(samples: readonly string[]): Partial<ColumnSource> | null {
  const numbers = samples.map((sample) => sample.trim());
  if (all(numbers, /^\d+(\.\d+)?(e[+-]?\d+)?$/i)) {
    const isBase = numbers.some((text) => Number(text) >= BASE_UNITS_MIN);
    if (!isBase) return { as: ['native-amount'] };
    return all(numbers, /^\d+$/) ? {} : { as: ['base-amount'] };
  }
  const bare = numbers.map((text) => text.replaceAll(/[^\d.,\s']/g, '').trim());
  if (!all(bare, /^\d[\d.,\s']*$/)) return null;
  const comma = bare.some((text) => /^\d{1,3}(\.\d{3})*,\d+$/.test(text) && !/^\d{1,3}(,\d{3})+$/.test(text));
  if (comma) return { as: ['decimal-comma', 'native-amount'] };
  return bare.some((text) => text.includes(','))
    ? { as: ['thousands-comma', 'native-amount'] }
    : { as: ['native-amount'] };
}

const integer = asIs(/^\d{1,15}$/);
const decimal = asIs(/^\d+(\.\d+)?(e[+-]?\d+)?$/i);
const url = asIs(/^(https?:|ipfs:|ar:|data:)/i);

const TOKEN_FIELDS: Readonly<Record<string, FieldRule>> = {
  tokenId: {
    names: [
      'token_id',
      'tokenid',
      'nft_id',
      'nft_token_id',
      'identifier',
      '*_id',
      'id',
      'token',
      'nft',
      'name',
      'title',
    ],
    accepts: acceptTokenId,
  },
  mint: { names: ['mint', 'token_mint', 'mint_address', 'token_address', 'address'], accepts: asIs(BASE58) },
  contractAddress: {
    names: [
      'contract_address',
      'contract',
      'collection_address',
      'nft_contract',
      'nft_contract_address',
      'token_address',
      'collection',
    ],
    accepts: acceptAddress,
  },
};

const SOLD_TOKEN_FIELDS = {
  ...TOKEN_FIELDS,
  tokenId: { names: TOKEN_FIELDS['tokenId']?.names ?? [], accepts: acceptSoldTokenId },
};

const TRADE_FIELDS: Readonly<Record<string, FieldRule>> = {
  seller: {
    names: ['seller', 'seller_address', 'from_address', 'from', 'maker', 'maker_address', 'offerer', 'owner'],
    accepts: acceptAddress,
  },
  timestamp: {
    names: [
      'timestamp',
      'datetime',
      'date',
      'time',
      'block_timestamp',
      'block_time',
      'sold_at',
      'sale_date',
      'created_at',
      'created_date',
      'event_timestamp',
      'listed_at',
      'valid_from',
      '*_time',
      '*_date',
      '*_at',
    ],
    accepts: acceptTime,
  },
  tx: {
    names: ['tx', 'tx_hash', 'transaction_hash', 'txn_hash', 'hash', 'transaction', 'signature'],
    accepts: asIs(/^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,90})$/i),
  },
};

const PRICE_NAMES = [
  'price_amount',
  'price',
  'sale_price',
  'price_raw',
  'price_native',
  'price_eth',
  'eth_price',
  'price_sol',
  'amount',
  'value',
  'eth',
  '*_price',
  'price_*',
];
const RULES: Readonly<Partial<Record<RecordKind, Readonly<Record<string, FieldRule>>>>> = {
  sale: {
    ...SOLD_TOKEN_FIELDS,
    price: { names: PRICE_NAMES, accepts: acceptPrice },
    ...TRADE_FIELDS,
    buyer: {
      names: ['buyer', 'buyer_address', 'to_address', 'to', 'winner', 'taker', 'taker_address'],
      accepts: acceptAddress,
    },
    logIndex: { names: ['log_index'], accepts: integer },
  },
  listing: {
    ...SOLD_TOKEN_FIELDS,
    priceRaw: { names: ['price_net_amount_raw', ...PRICE_NAMES], accepts: acceptPrice },
    buyerTotalRaw: { names: ['price_amount_raw'], accepts: asIs(/^\d+$/) },
    ...TRADE_FIELDS,
    expiresAt: {
      names: ['expires_at', 'expiration', 'expiration_time', 'valid_until', 'expiry', 'end_time'],
      accepts: acceptTime,
    },
    id: { names: ['order_id', 'listing_id'], accepts: anyText },
    status: { names: ['status'], accepts: asIs(/^(active|filled|cancelled|expired)$/) },
    orderHash: { names: ['order_hash', 'id'], accepts: asIs(/^0x[0-9a-f]{64}$/i) },
  },
  token: {
    ...TOKEN_FIELDS,
    rarityRank: { names: ['rarity_rank', 'rank', 'rarest', 'rarity', 'ranking'], accepts: asIs(/^[1-9]\d{0,9}$/) },
    name: { names: ['name', 'title'], accepts: anyText },
    image: { names: ['image', 'image_url', 'img_url', 'image_uri'], accepts: url },
    owner: { names: ['owner', 'owner_address', 'holder'], accepts: acceptAddress },
  },
  collection: {
    contractAddress: TOKEN_FIELDS['contractAddress'] as FieldRule,
    slug: { names: ['slug', 'symbol', 'collection_slug'], accepts: anyText },
    name: { names: ['name', 'title', 'collection'], accepts: anyText },
    image: { names: ['image', 'image_url', 'logo', 'logo_url'], accepts: url },
    banner: { names: ['banner', 'banner_image', 'banner_image_url'], accepts: url },
    description: { names: ['description'], accepts: anyText },
    tokenStandard: { names: ['token_standard', 'schema'], accepts: anyText },
    royaltyBps: { names: ['royalty_bps', 'seller_fee_basis_points'], accepts: integer },
    createdAt: { names: ['created_at', 'created_date', 'created'], accepts: acceptTime },
    'snapshot.floorRaw': { names: ['floor_price', 'floor'], accepts: acceptPrice },
    'snapshot.volumeAllTime': {
      names: ['total_volume', 'volume_all_time', 'all_time_volume', 'volume'],
      accepts: decimal,
    },
    'snapshot.supply': { names: ['total_supply', 'supply', 'items', 'size'], accepts: integer },
    'snapshot.owners': { names: ['num_owners', 'owners', 'unique_owners', 'holders'], accepts: integer },
  },
  product: {
    name: { names: ['name', 'title', 'product_name', 'product'], accepts: anyText },
    price: { names: ['price', 'variant_price', 'unit_price'], accepts: asIs(/^\d{1,40}(\.\d{1,18})?$/) },
    slug: { names: ['slug', 'handle'], accepts: anyText },
    description: { names: ['description', 'body_html', 'body'], accepts: anyText },
    image: { names: ['image', 'image_src', 'image_url'], accepts: url },
    inventory: { names: ['inventory', 'stock', 'quantity', 'variant_inventory_qty', 'qty'], accepts: integer },
    weightGrams: { names: ['weight_grams', 'variant_grams', 'grams'], accepts: decimal },
    collection: { names: ['collection', 'category', 'type'], accepts: anyText },
  },
};

/** The kinds of records that can be guessed, with the fields that must be found. The first kind that fits is taken. */
const SIGNS: readonly (readonly [kind: RecordKind, fields: readonly (readonly string[])[]])[] = [
  ['listing', [['priceRaw'], ['expiresAt'], ['seller'], ['tokenId', 'mint']]],
  ['sale', [['price'], ['tokenId', 'mint'], ['timestamp', 'buyer', 'tx']]],
  ['product', [['name'], ['price'], ['slug', 'inventory', 'description']]],
  [
    'collection',
    [['name'], ['slug', 'contractAddress'], ['snapshot.supply', 'snapshot.owners', 'snapshot.volumeAllTime', 'image']],
  ],
  ['token', [['tokenId', 'mint']]],
];

/** Returns null if no kind of record fits. `given`: the fields that the person has set, with one value for every row. */
export function guessColumns(
  columns: readonly SampledColumn[],
  { chains, given }: { chains: Chains; given: ReadonlyMap<string, string> },
): Guess | null {
  const wanted = given.get('kind');
  for (const [kind, signs] of SIGNS) {
    const found = findFields(columns, RULES[kind] ?? {});
    const fits = signs.every((fields) => fields.some((field) => Object.hasOwn(found, field) || given.has(field)));
    if (wanted === undefined ? fits : wanted === kind) return completeGuess(kind, found, { columns, chains, given });
  }
  return null;
}

function findFields(
  columns: readonly SampledColumn[],
  rules: Readonly<Record<string, FieldRule>>,
): Record<string, ColumnSource> {
  const found: Record<string, ColumnSource> = {};
  const used = new Set<string>();
  for (const [field, { names, accepts }] of Object.entries(rules)) {
    if (field === 'mint' && found['tokenId']) continue;
    const source = findColumn(columns, { names, accepts, used });
    if (!source) continue;
    found[field] = source;
    used.add(source.column);
  }
  return found;
}

function findColumn(
  columns: readonly SampledColumn[],
  { names, accepts, used }: FieldRule & { used: ReadonlySet<string> },
): ColumnSource | null {
  for (const name of names) {
    for (const matches of [matchesName, matchesLastName]) {
      for (const { name: column, samples } of columns) {
        if (used.has(column) || !matches(column, name)) continue;
        const source = isOfAnotherThing(column, name) ? null : accepts(samples);
        if (source) return { column, ...source };
      }
    }
  }
  return null;
}

const OTHER_THINGS = /(^|_)(tx|txn|transaction|block|log|order|listing|user|row|event|collection|set)_/;

/** A column such as `tx_id` fits `*_id`, but has the id of another thing. */
function isOfAnotherThing(column: string, name: string): boolean {
  return name.startsWith('*') && OTHER_THINGS.test(toWords(column));
}

/** Column names are compared in lower case, with underscores between words. `*` stands for any words. */
function matchesName(column: string, name: string): boolean {
  const words = toWords(column);
  if (name.startsWith('*')) return words.endsWith(name.slice(1));
  return name.endsWith('*') ? words.startsWith(name.slice(0, -1)) : words === name;
}

/** Compares only the part after the last dot of a path. */
function matchesLastName(column: string, name: string): boolean {
  return matchesName(column.slice(column.lastIndexOf('.') + 1), name);
}

function toWords(text: string): string {
  return text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
}

type GuessContext = { columns: readonly SampledColumn[]; chains: Chains; given: ReadonlyMap<string, string> };

/** Adds the required fields of the kind that no column has. */
function completeGuess(kind: RecordKind, found: Record<string, ColumnSource>, context: GuessContext): Guess {
  const { columns, given } = context;
  const notes: string[] = [];
  const map: Record<string, FieldSource> = { kind: { value: kind } };
  const isTrade = kind === 'sale' || kind === 'listing';
  if (isTrade) map['source'] = guessSource(columns, notes);
  if (kind === 'product') map['shop'] = toPlaceholder('the name of the shop', 'shop', notes);
  else Object.assign(map, guessChain(found, context, notes));
  if (kind !== 'product' && kind !== 'collection' && !found['contractAddress']) {
    map['contractAddress'] = toPlaceholder('the contract address of the collection', 'contractAddress', notes);
  }
  for (const [field, source] of Object.entries(found)) map[field] = source;
  if (isTrade && !found['timestamp'])
    map['timestamp'] = toPlaceholder('the time of all rows, such as 2026-05-01T00:00:00Z', 'timestamp', notes);
  if (
    columns.some(({ name, samples }) => toWords(name) === 'side' && samples.some((side) => /^(buy|bid)/i.test(side)))
  ) {
    notes.push('side: the file has bids, which no record can hold; leave them out before the import');
  }
  for (const field of ['price', 'priceRaw']) if (isTrade && found[field]) notePrice(map, field, { columns, notes });
  const timestamp = found['timestamp'];
  if (timestamp) noteTime(timestamp, columns, notes);
  for (const [field, value] of given) map[field] = { value };
  return { kind, map, notes: notes.filter((note) => !given.has(note.split(':')[0] ?? '')) };
}

function toPlaceholder(what: string, field: string, notes: string[]): FieldSource {
  notes.push(`${field}: the file does not contain it; edit the map, or give --set ${field}=VALUE`);
  return { value: `${PLACEHOLDER}${what}` };
}

function guessSource(columns: readonly SampledColumn[], notes: string[]): FieldSource {
  const source = findColumn(columns, {
    names: ['marketplace', 'source_name', 'source', 'platform', 'exchange', 'market'],
    accepts: asIs(/^[\w .-]{1,64}$/u),
    used: new Set(),
  });
  if (source) return { ...source, as: ['slug'], map: SOURCE_ALIASES };
  notes.push('source: the file does not name a marketplace, so the source is "import"');
  return { value: 'import' };
}

/** Other spellings of the slugs of marketplaces. */
const SOURCE_ALIASES = { 'open-sea': 'opensea', magiceden: 'magic-eden' };

/** The chain ids by the other names that files may use for the chains: aliases and EIP-155 chain ids. */
function toChainAliases(chains: Chains): Record<string, string> {
  const namesOf = ({ aliases, chainId }: Chain) => [...aliases, ...(chainId === null ? [] : [String(chainId)])];
  const entries = [...chains.values()].flatMap((chain) => namesOf(chain).map((name) => [name, chain.id] as const));
  return Object.fromEntries(entries);
}

/** The first chain of the family in the table of chains. */
function firstChain(chains: Chains, family: ChainFamily): string {
  return [...chains.values()].find((chain) => chain.family === family)?.id ?? '';
}

function guessChain(
  found: Record<string, ColumnSource>,
  { columns, chains }: GuessContext,
  notes: string[],
): Record<string, FieldSource> {
  const aliases = toChainAliases(chains);
  const isKnown = (sample: string) => {
    const name = sample.trim().toLowerCase();
    return chains.has(name) || Object.hasOwn(aliases, name);
  };
  const contract = found['contractAddress'];
  const prefixes = columns.find(({ name }) => name === contract?.column)?.samples ?? [];
  const accepts = (samples: readonly string[]) => (samples.length > 0 && samples.every(isKnown) ? {} : null);
  const column = findColumn(columns, {
    names: ['chain', 'blockchain', 'network', 'chain_id'],
    accepts,
    used: new Set(),
  });
  if (column && !prefixes.some((sample) => sample.includes(':0x'))) {
    const samples = columns.find(({ name }) => name === column.column)?.samples ?? [];
    const used = [...new Set(samples.map((sample) => sample.trim().toLowerCase()))].filter((name) => !chains.has(name));
    const map = Object.fromEntries(used.map((name) => [name, aliases[name] ?? name]));
    return { chain: { ...column, as: ['lower'], ...(used.length > 0 && { map }) } };
  }
  if (contract && prefixes.length > 0 && prefixes.every((sample) => isKnown(/^(\w+):0x/.exec(sample)?.[1] ?? ''))) {
    return { chain: { column: contract.column, pattern: '^(\\w+):', as: ['lower'], map: aliases } };
  }
  const value = firstChain(chains, found['mint'] === undefined ? 'evm' : 'solana');
  notes.push(`chain: the file does not name a chain, so it is ${value}; edit the map if that is wrong`);
  return { chain: { value } };
}

function notePrice(
  map: Record<string, FieldSource>,
  field: string,
  { columns, notes }: { columns: readonly SampledColumn[]; notes: string[] },
): void {
  const price = map[field] as ColumnSource;
  const unit = price.as?.includes('native-amount') ? 'native units, such as ETH' : 'base units, such as wei';
  notes.push(`${field}: the column ${JSON.stringify(price.column)} is read in ${unit}`);
  const currency = findColumn(columns, {
    names: [
      'price_currency',
      'currency',
      'currency_symbol',
      'price_token',
      'payment_token',
      'payment_symbol',
      'price_currency_symbol',
      'payment_type_type',
    ],
    accepts: asIs(/^(\p{L}[\p{L}\d._]{1,19}|0x[0-9a-f]{40})$/iu),
    used: new Set(),
  });
  const units = columns.find(({ name }) => toWords(name) === 'quantity');
  if (units?.samples.some((sample) => Number(sample) !== 1)) {
    notes.push(
      `${field}: some rows have several units; if the price is for one unit, add "times": ${JSON.stringify(units.name)}`,
    );
  }
  if (!currency) return;
  const as = price.as ?? ['base-amount'];
  map[field] = { ...price, as, currency: currency.column };
}

function noteTime({ column, as = [] }: ColumnSource, columns: readonly SampledColumn[], notes: string[]): void {
  const readings = findTimes(columns.find(({ name }) => name === column)?.samples ?? []);
  const [first, second] = readings;
  if (first !== 'utc-time' && second !== undefined) {
    notes.push(`timestamp: day and month cannot be told apart; read as ${as[0]}, it could be ${second}`);
  }
}
