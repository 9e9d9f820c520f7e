// Lists the column names and the values by which `mercat import` recognises which column of a file has which field of a record.

import type { RecordKind } from '../../intake/records/kinds.ts';
import type { AcceptValues } from './column-values.ts';
import {
  acceptAddress,
  acceptPriceNotQuantity,
  acceptMint,
  acceptPrice,
  acceptSoldTokenId,
  acceptTime,
  acceptTokenId,
  acceptAnyText,
  asIs,
  acceptDecimal,
  acceptInteger,
  acceptTraits,
  acceptUrl,
} from './column-values.ts';

/**
 * How the column of a field is found. `names`: its possible names in order of preference, in lower case with underscores between the words;
 * `*` stands for any words. `except`: matches the names, in the same form, of columns that never have the field. `accepts`: the check of its
 * values.
 */
export type FieldRule = { names: readonly string[]; except?: RegExp; accepts: AcceptValues };

/** The rules of the fields of one kind of record. If a field has several rules, the first that finds a column applies. */
export type FieldRules = Readonly<Record<string, FieldRule | readonly FieldRule[]>>;

const TOKEN_ID_NAMES = [
  'token_id',
  'tokenid',
  'nft_id',
  'nft_token_id',
  'identifier',
  'token_number',
  'token_nr',
  'nft_nr',
  '*_id',
  'id',
  'token',
  'nft',
  'name',
  'title',
];

const TOKEN_FIELDS: FieldRules = {
  tokenId: { names: TOKEN_ID_NAMES, accepts: acceptTokenId },
  mint: {
    names: ['mint', 'token_mint', 'mint_address', 'nft_mint', 'token_address', 'address'],
    accepts: acceptMint,
  },
};

const CONTRACT: FieldRule = {
  names: [
    'contract_address',
    'contractaddress',
    'contract',
    'collection_address',
    'collection_mint',
    'nft_contract',
    'nft_contract_address',
    'nft_address',
    'asset_contract',
    'asset_contract_address',
    'token_contract',
    'token_contract_address',
    'token_address',
    'collection',
  ],
  accepts: acceptAddress,
};

const SOLD_TOKEN_FIELDS: FieldRules = {
  ...TOKEN_FIELDS,
  tokenId: { names: TOKEN_ID_NAMES, accepts: acceptSoldTokenId },
  contractAddress: CONTRACT,
};

const TRADE_FIELDS: FieldRules = {
  seller: {
    names: [
      'seller',
      'seller_address',
      'from_address',
      'from',
      'maker',
      'maker_address',
      'offerer',
      'owner',
      'verkaufer',
      'verkaeufer',
      'von',
    ],
    accepts: acceptAddress,
  },
  timestamp: {
    names: [
      'timestamp',
      'datetime',
      'date_time',
      'date_time_utc',
      'date',
      'time',
      'block_timestamp',
      'block_time',
      'sold_at',
      'sale_date',
      'created_at',
      'created_date',
      'event_timestamp',
      'event_time',
      'event_date',
      'transaction_time',
      'transaction_date',
      'tx_time',
      'listed_at',
      'valid_from',
      'unix_timestamp',
      'datum',
      'zeitpunkt',
      '*_time',
      '*_date',
      '*_at',
      '*_utc',
      '*datum',
    ],
    accepts: acceptTime,
  },
  tx: {
    names: [
      'tx',
      'tx_hash',
      'txhash',
      'tx_id',
      'transaction_hash',
      'transaction_id',
      'txn_hash',
      'txn',
      'hash',
      'transaction',
      'signature',
      'transaktion',
      'transaktions_hash',
    ],
    accepts: asIs(/^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,90})$/i),
  },
};

/** Exact amounts come before rounded ones. */
const PRICE_NAMES = [
  'price_raw',
  'price_amount_raw',
  'amount_raw',
  'price',
  'sale_price',
  'sold_price',
  'total_price',
  'price_value',
  'price_amount',
  'price_native',
  'price_amount_decimal',
  'price_amount_native',
  'price_eth',
  'eth_price',
  'price_sol',
  'payment_quantity',
  'amount_original',
  'preis',
  'verkaufspreis',
];

/**
 * Matches the names of amounts that are not the price that a marketplace states: a part of the price, such as what the seller receives after
 * fees; or a cost or floor.
 */
export const NOT_THE_PRICE =
  /(?:^|_)(?:net|net_?amount|proceeds|earnings|profit|fees?|royalt(?:y|ies)|tax|gas|floor)(?:_|$)/;

/** The columns of prices, in order of preference. */
const PRICES: readonly FieldRule[] = [
  { names: PRICE_NAMES, except: NOT_THE_PRICE, accepts: acceptPrice },
  {
    except: NOT_THE_PRICE,
    names: ['amount', 'value', 'eth', 'sol', '*_price', 'price_*', '*_eth', 'preis_*', 'betrag', 'wert'],
    accepts: acceptPriceNotQuantity,
  },
];

const BUYER: FieldRule = {
  names: [
    'buyer',
    'buyer_address',
    'to_address',
    'to',
    'winner',
    'winner_account',
    'taker',
    'taker_address',
    'kaufer',
    'kaeufer',
    'an',
  ],
  accepts: acceptAddress,
};

export const FIELD_RULES: Readonly<Partial<Record<RecordKind, FieldRules>>> = {
  sale: {
    ...SOLD_TOKEN_FIELDS,
    price: PRICES,
    ...TRADE_FIELDS,
    buyer: BUYER,
    logIndex: { names: ['log_index'], accepts: acceptInteger },
  },
  listing: {
    ...SOLD_TOKEN_FIELDS,
    priceRaw: PRICES,
    ...TRADE_FIELDS,
    expiresAt: {
      names: ['expires_at', 'expiration', 'expiration_time', 'valid_until', 'expiry', 'end_time'],
      accepts: acceptTime,
    },
    id: { names: ['order_id', 'listing_id'], accepts: acceptAnyText },
    status: { names: ['status'], accepts: asIs(/^(active|filled|cancelled|expired)$/) },
    orderHash: { names: ['order_hash', 'id'], accepts: asIs(/^0x[0-9a-f]{64}$/i) },
  },
  token: {
    ...TOKEN_FIELDS,
    contractAddress: CONTRACT,
    rarityRank: { names: ['rarity_rank', 'rank', 'rarest', 'rarity', 'ranking'], accepts: asIs(/^[1-9]\d{0,9}$/) },
    name: { names: ['name', 'title'], accepts: acceptAnyText },
    image: { names: ['image', 'image_url', 'img_url', 'image_uri'], accepts: acceptUrl },
    owner: { names: ['owner', 'owner_address', 'holder'], accepts: acceptAddress },
    traits: { names: ['traits', 'attributes'], accepts: acceptTraits },
  },
  collection: {
    contractAddress: CONTRACT,
    slug: { names: ['slug', 'symbol', 'collection_slug'], accepts: acceptAnyText },
    name: { names: ['name', 'title', 'collection'], accepts: acceptAnyText },
    image: { names: ['image', 'image_url', 'logo', 'logo_url'], accepts: acceptUrl },
    banner: { names: ['banner', 'banner_image', 'banner_image_url'], accepts: acceptUrl },
    description: { names: ['description'], accepts: acceptAnyText },
    tokenStandard: { names: ['token_standard', 'schema'], accepts: acceptAnyText },
    royaltyBps: { names: ['royalty_bps', 'seller_fee_basis_points'], accepts: acceptInteger },
    createdAt: { names: ['created_at', 'created_date', 'created'], accepts: acceptTime },
    'snapshot.floorRaw': { names: ['floor_price', 'floor'], accepts: acceptPrice },
    'snapshot.volumeAllTime': {
      names: ['total_volume', 'volume_all_time', 'all_time_volume', 'volume'],
      accepts: acceptDecimal,
    },
    'snapshot.supply': { names: ['total_supply', 'supply', 'items', 'size'], accepts: acceptInteger },
    'snapshot.owners': { names: ['num_owners', 'owners', 'unique_owners', 'holders'], accepts: acceptInteger },
  },
  product: {
    name: { names: ['name', 'title', 'product_name', 'product'], accepts: acceptAnyText },
    price: { names: ['price', 'variant_price', 'unit_price'], accepts: asIs(/^\d{1,40}(\.\d{1,18})?$/) },
    slug: { names: ['slug', 'handle'], accepts: acceptAnyText },
    description: { names: ['description', 'body_html', 'body'], accepts: acceptAnyText },
    image: { names: ['image', 'image_src', 'image_url'], accepts: acceptUrl },
    inventory: { names: ['inventory', 'stock', 'quantity', 'variant_inventory_qty', 'qty'], accepts: acceptInteger },
    weightGrams: { names: ['weight_grams', 'variant_grams', 'grams'], accepts: acceptDecimal },
    collection: { names: ['collection', 'category', 'type'], accepts: acceptAnyText },
  },
};

/**
 * The kinds of records that can be guessed. A kind fits if at least one field of each of its lists is found. The first kind that fits is
 * chosen.
 */
export const KIND_SIGNS: readonly (readonly [kind: RecordKind, fields: readonly (readonly string[])[]])[] = [
  ['listing', [['priceRaw'], ['expiresAt'], ['seller'], ['tokenId', 'mint']]],
  ['sale', [['price'], ['tokenId', 'mint'], ['timestamp', 'buyer', 'tx']]],
  ['product', [['name'], ['price'], ['slug', 'inventory', 'description']]],
  [
    'collection',
    [['name'], ['slug', 'contractAddress'], ['snapshot.supply', 'snapshot.owners', 'snapshot.volumeAllTime', 'image']],
  ],
  ['token', [['tokenId', 'mint']]],
];

/** Matches the name of a column with prices in a national currency, such as `price_usd`. The first group captures the currency. */
export const NATIONAL_PRICE = /(?:^|_)(usd|eur|gbp|jpy|cny|krw)(?:_|$)/;

/** Columns that name what happened in each row. */
export const EVENT_NAMES = [
  'event_type',
  'eventtype',
  'event',
  'activity_type',
  'activity',
  'action',
  'trade_type',
  'evt_type',
  'type',
  'typ',
  'method',
];

/** Matches the values by which a column of EVENT_NAMES marks a row as a sale. */
export const SALE_EVENT =
  /^(sales?|sold|buy|bought|buy_?now|sell|purchased?|trades?|order_?(filled|fulfilled|matched)|item_?sold|successful|accept_?(bid|offer|collection_?bid)|(accept|execute)(d)?_?sale.*|verkauf|kauf|verkauft|gekauft)$/i;

/** Columns that name the marketplace. */
export const SOURCE_NAMES = [
  'marketplace',
  'marketplace_name',
  'source_name',
  'source',
  'platform',
  'platform_name',
  'exchange',
  'exchange_name',
  'market',
  'marktplatz',
  'order_source',
  'fill_source',
];
/**
 * In files of Dune, the column `project` has the marketplace. In other files this column has the name of a collection. `form` matches the names
 * of marketplaces only.
 */
export const PROJECT_OF_DUNE = {
  name: 'project',
  form: /^(opensea|blur|looksrare|x2y2|magiceden|sudoswap|rarible|zora|foundation|superrare|larvalabs|cryptopunks|element|nftx|reservoir|tensor)$/i,
};

/** Other spellings of the slugs of marketplaces. */
export const SOURCE_ALIASES: Readonly<Record<string, string>> = {
  'open-sea': 'opensea',
  'opensea-io': 'opensea',
  'blur-io': 'blur',
  'looks-rare': 'looksrare',
  'looksrare-org': 'looksrare',
  magiceden: 'magic-eden',
  'magiceden-io': 'magic-eden',
  'magiceden-v2': 'magic-eden',
  'magic-eden-v2': 'magic-eden',
};

export const CURRENCY_NAMES = [
  'price_currency',
  'currency',
  'currency_symbol',
  'price_currency_symbol',
  'crypto_price_symbol',
  'price_token',
  'payment_token',
  'payment_symbol',
  'payment_token_symbol',
  'payment_type_type',
  'wahrung',
  'waehrung',
];
