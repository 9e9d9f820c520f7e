// Records of each kind in two versions, for tests that import records and undo the import. Dumps the rows that must be the same before the
// import and after its undo.

import type { Database } from '../../../src/platform/database/port.ts';
import { dumpEveryTable, IMPORT_TABLES, LOG_TABLES } from './every-table.ts';
import { bid, collection, EVM, listing, order, product, sale, SELLER, token } from './intake.ts';

export const OTHER_CONTRACT = '0x00000000000000000000000000000000000000bb';
/** An amount with more digits than a JavaScript number holds. */
const LARGE = '123456789012345678901234567891';
const stats = (fields: object = {}) => ({
  kind: 'stats',
  chain: 'ethereum',
  contractAddress: EVM,
  owners: 3,
  floorRaw: '70',
  at: '2026-05-20T00:00:00Z',
  ...fields,
});
const analytics = (fields: object = {}) => ({
  kind: 'analytics',
  chain: 'ethereum',
  contractAddress: EVM,
  volume: { allTime: 12.5 },
  at: '2026-05-20T00:00:00Z',
  ...fields,
});
export const rate = (fields: object = {}) => ({
  kind: 'rate',
  symbol: 'ETH',
  usd: 3000.5,
  at: '2026-05-20T00:00:00Z',
  ...fields,
});

/** The records of each kind. The records in `second` change rows of the records in `first`, and add a row. */
export const UNDOABLE_RECORDS: Record<string, { first: object[]; second: object[] }> = {
  collection: {
    first: [collection({ royaltyBps: 500, snapshot: { floorRaw: '5' } })],
    second: [
      collection({ slug: 'renamed', name: 'Renamed', launched: true, snapshot: { floorRaw: '9', supply: 4 } }),
      collection({ contractAddress: OTHER_CONTRACT, slug: 'aa' }),
    ],
  },
  order: {
    first: [order({ priceRaw: LARGE })],
    second: [order({ priceRaw: '40', expiresAt: '2100-01-01T00:00:00Z' }), order({ tokenId: '2' })],
  },
  listing: {
    first: [listing({ priceRaw: LARGE, expiresAt: '2100-01-01T00:00:00Z' })],
    second: [
      listing({ priceRaw: '60', timestamp: '2026-05-02T00:00:00Z', seller: OTHER_CONTRACT }),
      listing({ id: 'L2', tokenId: '2', priceRaw: '10' }),
    ],
  },
  bid: {
    first: [bid({ tokenId: '1', priceRaw: LARGE, expiresAt: '2100-01-01T00:00:00Z' })],
    second: [
      bid({
        priceRaw: '60',
        proceedsRaw: null,
        timestamp: '2026-05-02T00:00:00Z',
        buyer: OTHER_CONTRACT,
        quantity: '3',
      }),
      bid({ id: 'B2', tokenId: '2', priceRaw: '10', proceedsRaw: '9' }),
    ],
  },
  sale: {
    first: [sale({ tx: '0x1', logIndex: 1, price: LARGE, seller: SELLER }), sale({ tx: '0x3', logIndex: 1 })],
    second: [
      sale({ tx: '0x1', logIndex: 1, price: '70', seller: SELLER, timestamp: '2026-04-01T00:00:00Z' }),
      sale({ tx: '0x2', price: '5' }),
    ],
  },
  token: {
    first: [token({ name: 'One', owner: SELLER, traits: ['Hat: Cap', 'Eyes: Blue'] })],
    second: [
      token({ name: 'Uno', owner: OTHER_CONTRACT, rarityRank: 1, traits: ['Hat: Crown', 'Eyes: Blue'] }),
      token({ tokenId: '2', owner: OTHER_CONTRACT, traits: ['Hat: Cap'] }),
    ],
  },
  stats: {
    first: [stats()],
    second: [
      stats({ owners: 9, floorRaw: null, at: '2026-05-21T00:00:00Z' }),
      stats({ contractAddress: OTHER_CONTRACT }),
    ],
  },
  analytics: {
    first: [analytics()],
    second: [
      analytics({ volume: { allTime: 13 }, at: '2026-05-21T00:00:00Z' }),
      analytics({ contractAddress: OTHER_CONTRACT }),
    ],
  },
  rate: {
    first: [rate()],
    second: [rate({ usd: 3100, at: '2026-05-21T00:00:00Z' }), rate({ symbol: 'SOL', usd: 150 })],
  },
  product: {
    first: [product({ inventory: 20, collections: ['a'], sku: 'M-1', metadata: { a: '1' } })],
    second: [
      product({
        price: '21.00',
        inventory: 3,
        image: null,
        collections: ['b'],
        sku: 'M-2',
        status: 'archived',
        metadata: { a: '2', b: '1' },
        groupId: 'mugs',
        options: [{ name: 'Size', value: 'M' }],
      }),
      product({ name: 'Cup', sku: 'C-1', groupId: 'cups' }),
    ],
  },
};

/** Tables that are not compared: logs that only grow, the records of imports, secrets, and the state of background work. */
const OTHER_TABLES = [
  ...IMPORT_TABLES,
  ...LOG_TABLES,
  'indexer.collection_rarity',
  'main.secret',
  'main.event',
  'main.delivery',
  'main.adjustment',
  'main.service_start',
];

/** Some rows mean the same as no row: a row that was created only to be locked, and a row of sums that are back at zero. */
function isBlank(table: string, row: Record<string, unknown>): boolean {
  if (table === 'indexer.sale_hour' || table === 'indexer.sale_total') return row['sales'] === 0;
  if (table === 'main.collection_book') return row['listed_assets'] === 0;
  if (table !== 'indexer.collection_figures') return false;
  const counts = ['listed_assets', 'own_listed_assets', 'tokens', 'holders'].map((name) => row[name]);
  return counts.every((count) => count === 0) && row['recorded'] === false;
}

/**
 * Columns that are not compared: columns with a new value in each write, the last point of the market history and what is computed from it, and
 * ranking keys of collections without a record. Nothing reads these keys.
 */
function noiseOf(table: string, row: Record<string, unknown>): string[] {
  if (table === 'main.product') return ['id', 'version', 'created_at', 'updated_at'];
  if (table === 'indexer.token_metadata') return ['fetched_at'];
  // The ids of traits come from a sequence.
  if (table === 'indexer.trait') return ['id'];
  if (table === 'indexer.trait_set' || table === 'indexer.trait_listing') return ['trait_ids'];
  if (table === 'indexer.listed_trait') return ['trait_id'];
  if (table !== 'indexer.collection_figures') return [];
  const isNoise = row['recorded'] === false ? /^point_|_rank$|^ranks_/ : /^point_|^change_|^ranks_/;
  return Object.keys(row).filter((name) => isNoise.test(name));
}

/** The rows that an import and its undo leave as they were, as JSON text, by table. */
export async function dumpUndoable(db: Database): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [table, rows] of await dumpEveryTable(db, OTHER_TABLES)) {
    tables[table] = rows
      .flatMap((text) => {
        const row = JSON.parse(text) as Record<string, unknown>;
        const noise = noiseOf(table, row);
        if (isBlank(table, row)) return [];
        // If possible, the text itself is compared: it has all digits of an amount, and the parsed row may lack some of them.
        if (noise.length === 0) return [text];
        for (const name of noise) delete row[name];
        return [JSON.stringify(row)];
      })
      .sort();
  }
  return tables;
}
