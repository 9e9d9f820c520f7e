// Files like those in docs/importing.md. For each kind there is a valid file, and variants of it with one mistake each.

const CONTRACT = `0x${'c1'.repeat(20)}`;
const PARTIES = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];
const SOLANA_COLLECTION = '6XxjKYFbcndh2gDcsUrmZgVEsoDxXMnfsaGY6fpTJzNr';
const MINTS = [
  'So11111111111111111111111111111111111111112',
  '3kxh9JnBdktEyJDopKFnwzg3yaFQT1kbR8BoyvvPuAAy',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
];

/** A file, and how it is imported: the options of the command, and `map` if the command needs a column map. */
export type GuideFile = {
  name: string;
  content: string | Uint8Array;
  options?: readonly string[];
  map?: Readonly<Record<string, unknown>>;
};

export type GuideKind = {
  title: string;
  valid: GuideFile;
  mistakes: readonly (readonly [mistake: string, file: Partial<GuideFile>])[];
};

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const csv = (rows: readonly (readonly string[])[], delimiter = ',') =>
  rows.map((row) => `${row.join(delimiter)}\n`).join('');
/** The rows with one cell replaced. The header is row 0. */
const withCell = (rows: readonly (readonly string[])[], row: number, column: number, cell: string) =>
  rows.map((cells, at) => (at === row ? cells.map((old, index) => (index === column ? cell : old)) : cells));
const bytea = (address = '') => `\\x${address.slice(2)}`;

const PUNKS = [
  ['tx_id', 'date', 'price', 'from_address', 'to_address', 'punk_id', 'note'],
  ['0', '2017-06-23 21:06:32', '0.01', bytea(PARTIES[0]), bytea(PARTIES[1]), '3134', 'first'],
  ['1', '2017-06-23 21:06:45', '0.04', bytea(PARTIES[0]), bytea(PARTIES[1]), '5719', 'café'],
  ['2', '2017-06-23 21:06:53', '0.1', bytea(PARTIES[1]), bytea(PARTIES[0]), '5490', 'third'],
];
export const PUNKS_MAP = {
  kind: { value: 'sale' },
  source: { value: 'larvalabs' },
  chain: { value: 'ethereum' },
  contractAddress: { value: CONTRACT },
  tokenId: 'punk_id',
  price: { column: 'price', as: 'native-amount' },
  seller: { column: 'from_address', as: 'bytea' },
  buyer: { column: 'to_address', as: 'bytea' },
  timestamp: { column: 'date', as: 'utc-time' },
};

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const EXPORT = [
  ['marketplace', 'chain', 'contract', 'token', 'price', 'currency', 'seller', 'buyer', 'sold_at', 'tx_hash'],
  [
    'OpenSea',
    'ethereum',
    CONTRACT,
    'Wolf #7',
    '6.27e+16',
    'ETH',
    PARTIES[0] ?? '',
    PARTIES[1] ?? '',
    '1667303999',
    hash('1'),
  ],
  [
    'OpenSea',
    'ethereum',
    CONTRACT,
    'Wolf #8',
    '8550000000000000.0',
    'WETH',
    PARTIES[0] ?? '',
    PARTIES[1] ?? '',
    '1667304011',
    hash('2'),
  ],
  [
    'Blur',
    'ethereum',
    CONTRACT,
    'Wolf #9',
    '7e+16',
    'ETH',
    PARTIES[1] ?? '',
    PARTIES[0] ?? '',
    '1667304023',
    hash('3'),
  ],
];
const EXPORT_MAP = {
  kind: { value: 'sale' },
  source: { column: 'marketplace', as: 'slug' },
  chain: 'chain',
  contractAddress: 'contract',
  tokenId: { column: 'token', pattern: '#(\\d+)$' },
  price: { column: 'price', as: 'base-amount', currency: 'currency' },
  seller: 'seller',
  buyer: 'buyer',
  timestamp: { column: 'sold_at', as: 'utc-time' },
  tx: 'tx_hash',
};

const toAsset = (mint: string, index: number) => ({
  interface: 'V1_NFT',
  id: mint,
  content: { metadata: { name: `Café #${index + 1}` } },
  grouping: [{ group_key: 'collection', group_value: SOLANA_COLLECTION }],
  ownership: { owner: MINTS[0], ownership_model: 'single' },
});
const DAS = `${JSON.stringify({ jsonrpc: '2.0', id: '1', result: { total: 3, items: MINTS.map(toAsset) } })}\n`;

const toOrder = (tokenId: string, index: number) => ({
  id: hash(String(index + 4)),
  side: 'sell',
  status: 'active',
  contract: CONTRACT,
  maker: PARTIES[0],
  price: {
    currency: { symbol: 'ETH' },
    amount: { raw: '700000000000000000', decimal: 0.7 },
    netAmount: { raw: '630000000000000000', decimal: 0.63 },
  },
  validFrom: 1_675_178_302 + index,
  validUntil: 4_102_444_800,
  criteria: { data: { token: { tokenId } } },
  source: { name: 'OpenSea', label: 'café' },
});
/** An order dump of Reservoir: the marketplace states 0.7 ETH, of which the seller receives 0.63 ETH. */
export const ORDERS = `${JSON.stringify(['5071', '5072', '5073'].map(toOrder), null, 2)}\n`;
export const ORDERS_MAP = {
  kind: { value: 'listing' },
  source: { column: 'source.name', as: 'slug' },
  chain: { value: 'ethereum' },
  contractAddress: 'contract',
  tokenId: 'criteria.data.token.tokenId',
  priceRaw: { column: 'price.amount.raw', as: 'base-amount', currency: 'price.currency.symbol' },
  seller: 'maker',
  timestamp: { column: 'validFrom', as: 'utc-time' },
  expiresAt: { column: 'validUntil', as: 'utc-time' },
  orderHash: 'id',
  status: 'status',
};

const RANKS = `${JSON.stringify([
  { lootId: 3043, score: 397, rarest: 1, label: 'café' },
  { lootId: 7658, score: 391, rarest: 2 },
  { lootId: 5046, score: 388, rarest: 3 },
]).replaceAll('},', '},\n')}\n`;
const RANKS_MAP = {
  kind: { value: 'token' },
  chain: { value: 'ethereum' },
  contractAddress: { value: CONTRACT },
  tokenId: 'lootId',
  rarityRank: 'rarest',
};

const SHOPIFY = [
  [
    'Handle',
    'Title',
    'Body (HTML)',
    'Vendor',
    'Option1 Name',
    'Option1 Value',
    'Variant Grams',
    'Variant Inventory Qty',
    'Variant Price',
    'Image Src',
    'Image Position',
  ],
  ['mug', 'Café mug', 'A mug', 'Acme', 'Colour', 'Red', '300', '4', '19.90', 'https://example.com/1.png', '1'],
  ['mug', '', '', '', '', 'Blue', '300', '7', '21.90', 'https://example.com/2.png', '2'],
  ['mug', '', '', '', '', '', '', '', '', 'https://example.com/3.png', '3'],
  ['cup', 'Cup', 'A cup', 'Acme', 'Title', 'Default Title', '200', '9', '9.90', '', ''],
];
const SHOP = ['--format', 'shopify-products', '--set', 'shop=s'];

const MISSING = `0x${'dd'.repeat(20)}`;

export const GUIDE: readonly GuideKind[] = [
  {
    title: 'sales like those of CryptoPunks (CSV)',
    valid: { name: 'punks.csv', content: csv(PUNKS), map: PUNKS_MAP },
    mistakes: [
      ['wrong unit: no `native-amount`', { map: { ...PUNKS_MAP, price: 'price' } }],
      ['wrong dates', { content: csv(withCell(PUNKS, 2, 1, '23.06.2017')) }],
      ['unclosed quote', { content: csv(withCell(PUNKS, 2, 0, '"1')) }],
      ['wrong chain name', { map: { ...PUNKS_MAP, chain: { value: 'Ethereum' } } }],
      ['missing collection', { map: { ...PUNKS_MAP, contractAddress: { value: MISSING } } }],
      ['Latin-1', { content: latin1(csv(PUNKS)) }],
      ['semicolons', { content: csv(PUNKS, ';') }],
    ],
  },
  {
    title: 'export of a marketplace (CSV)',
    valid: { name: 'export.csv', content: csv(EXPORT), map: EXPORT_MAP },
    mistakes: [
      ['wrong unit: a native amount', { content: csv(withCell(EXPORT, 2, 4, '0.00855')) }],
      ['another currency', { content: csv(withCell(EXPORT, 2, 5, 'USDC')) }],
      ['wrong dates', { content: csv(withCell(EXPORT, 2, 8, '11/01/22')) }],
      ['unclosed quote', { content: csv(withCell(EXPORT, 2, 3, '"Wolf #8')) }],
      ['wrong chain name', { content: csv(withCell(EXPORT, 2, 1, 'ETH')) }],
      ['missing collection', { content: csv(withCell(EXPORT, 2, 2, MISSING)) }],
      ['Latin-1', { content: latin1(csv(withCell(EXPORT, 2, 3, 'Café #8'))) }],
      ['semicolons', { content: csv(EXPORT, ';') }],
    ],
  },
  {
    title: 'page of a DAS endpoint (JSON)',
    valid: { name: 'das.json', content: DAS, options: ['--format', 'das-assets'] },
    mistakes: [
      ['unclosed quote', { content: DAS.replace('"name":"Café #2"', '"name":"Café #2') }],
      ['wrong chain name', { options: ['--format', 'das-assets', '--set', 'chain=Solana'] }],
      ['missing collection', { content: DAS.replaceAll(SOLANA_COLLECTION, MINTS[1] ?? '') }],
      ['another collection', { options: ['--format', 'das-assets', '--set', `contractAddress=${MINTS[2]}`] }],
      ['Latin-1', { content: latin1(DAS) }],
    ],
  },
  {
    title: 'order dump of Reservoir (JSON)',
    valid: { name: 'orders.json', content: ORDERS, map: ORDERS_MAP },
    mistakes: [
      ['wrong unit: the decimal amount', { map: { ...ORDERS_MAP, priceRaw: 'price.amount.decimal' } }],
      ['wrong dates', { content: ORDERS.replace('1675178303', '"31/01/2023"') }],
      ['unclosed quote', { content: ORDERS.replace('"tokenId": "5072"', '"tokenId": "5072') }],
      ['wrong chain name', { map: { ...ORDERS_MAP, chain: { value: 'Ethereum' } } }],
      ['missing collection', { content: ORDERS.replace(CONTRACT, MISSING) }],
      ['Latin-1', { content: latin1(ORDERS) }],
    ],
  },
  {
    title: 'rarity file (JSON)',
    valid: { name: 'ranks.json', content: RANKS, map: RANKS_MAP },
    mistakes: [
      ['wrong unit: the score', { content: RANKS.replace('"rarest":2', '"rarest":39.1') }],
      ['unclosed quote', { content: RANKS.replace('"score":391', '"score:391') }],
      ['wrong chain name', { map: { ...RANKS_MAP, chain: { value: 'Ethereum' } } }],
      ['missing collection', { map: { ...RANKS_MAP, contractAddress: { value: MISSING } } }],
      ['Latin-1', { content: latin1(RANKS) }],
    ],
  },
  {
    title: 'product export of Shopify (CSV)',
    valid: { name: 'products.csv', content: csv(SHOPIFY), options: SHOP },
    mistakes: [
      ['wrong unit: a decimal comma', { content: csv(withCell(SHOPIFY, 2, 8, '"21,90"')) }],
      ['unclosed quote', { content: csv(withCell(SHOPIFY, 2, 5, '"Blue')) }],
      ['missing shop', { options: [...SHOP.slice(0, 3), 'shop=other'] }],
      ['Latin-1', { content: latin1(csv(SHOPIFY)) }],
      ['semicolons', { content: csv(SHOPIFY, ';') }],
    ],
  },
];

/** The collection records that the service needs in order to serve the records of the files. */
export const GUIDE_COLLECTIONS = [
  { kind: 'collection', chain: 'ethereum', contractAddress: CONTRACT, name: 'Wolves' },
  { kind: 'collection', chain: 'solana', contractAddress: SOLANA_COLLECTION, name: 'Lanterns' },
];
