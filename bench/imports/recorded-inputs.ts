// Reads real records as inputs of benchmarks. They are recordings in a folder beside the repository (`../shared/data`). A benchmark reports
// each recording that is absent.

import { parseNativeAmount } from '../../src/platform/core/amount.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import type { ImportOptions } from '../../src/intake/import.ts';
import { PUNKS_MAP } from '../../test/cli/import/guide-files.ts';
import { findRecording } from '../../test/support/recordings/recordings.ts';
import { toNdjson } from '../../test/support/service/intake.ts';
import { recordUnmeasured } from '../support/verdict.ts';

const PUNKS = '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb';
const LOOT = '0xff9c1b15b16263c61d017ee9f65c50e4ae0113d7';
const PUNK_SALES = 'sales/cryptopunks-2017-2022.csv';

export type RecordedImport = { name: string; content: string; rows: number; options: Partial<ImportOptions> };

type Source = { name: string; file: string; read: (content: string) => Omit<RecordedImport, 'name'> };

const SOURCES: readonly Source[] = [
  {
    name: 'sales of CryptoPunks, CSV',
    file: PUNK_SALES,
    read: (content) => asCsv(content, { ...PUNKS_MAP, contractAddress: { value: PUNKS } }),
  },
  {
    name: 'sales on Seaport as an aggregator reports them, CSV',
    file: 'sales/seaport-2022.csv',
    read: (content) =>
      asCsv(content, {
        kind: { value: 'sale' },
        source: 'marketplace',
        chain: { value: 'ethereum' },
        contractAddress: 'contract_address',
        tokenId: 'token_id',
        price: 'price_amount',
        buyer: 'buyer_address',
        tx: 'transaction_hash',
        timestamp: { value: '2022-12-31T00:00:00Z' },
      }),
  },
  {
    name: 'tokens of CryptoPunks, CSV',
    file: 'rarity/cryptopunks-attributes.csv',
    read: (content) => {
      const token = { kind: { value: 'token' }, chain: { value: 'ethereum' }, contractAddress: { value: PUNKS } };
      return asCsv(content, { ...token, tokenId: 'id' });
    },
  },
  {
    name: 'tokens of Loot with their ranks, NDJSON',
    file: 'rarity/loot-ranks.json',
    read: (content) => {
      const ranks = JSON.parse(content) as { lootId: number; rarest: number }[];
      const token = { kind: 'token', chain: 'ethereum', contractAddress: LOOT };
      const records = ranks.map(({ lootId, rarest }) => ({ ...token, tokenId: String(lootId), rarityRank: rarest }));
      return { content: toNdjson(records), rows: records.length, options: { format: 'ndjson' } };
    },
  },
];

function asCsv(content: string, map: object): Omit<RecordedImport, 'name'> {
  return { content, rows: rowsOf(content).length, options: { format: 'csv', map: parseColumnMap(map) } };
}

/** The rows of a CSV file whose cells contain no commas and no line breaks. */
function rowsOf(content: string): Record<string, string>[] {
  const [header = '', ...rows] = content.trim().split(/\r?\n/);
  const columns = header.split(',');
  return rows.map((row) => {
    const cells = row.split(',');
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']));
  });
}

/** The imports of all recorded files that are present. */
export function listRecordedImports(): RecordedImport[] {
  return SOURCES.flatMap(({ name, file, read }) => {
    const content = findRecording(file);
    if (content !== null) return [{ name, ...read(content) }];
    recordUnmeasured(`recorded import, ${name}`, `../shared/data/${file} is absent`);
    return [];
  });
}

/**
 * A collection with the slug `recorded`, and a listing for each recorded sale of CryptoPunks, with the token, price, seller and time of the sale.
 * The prices therefore differ as much as on a real market, and some tokens have many listings. Null if the recording is absent.
 */
export function recordedListings(): Record<string, unknown>[] | null {
  const content = findRecording(PUNK_SALES);
  if (content === null) return null;
  const collection = { kind: 'collection', chain: 'ethereum', contractAddress: PUNKS, slug: 'recorded', name: 'Punks' };
  const listings = rowsOf(content).flatMap(({ tx_id, date = '', price = '', from_address = '', punk_id }) => {
    const priceRaw = parseNativeAmount(price, 18) ?? 0n;
    if (priceRaw === 0n) return [];
    return {
      kind: 'listing',
      source: 'opensea',
      id: `recorded-${tx_id}`,
      chain: 'ethereum',
      contractAddress: PUNKS,
      tokenId: punk_id,
      priceRaw: priceRaw.toString(),
      seller: from_address.replace('\\x', '0x'),
      timestamp: `${date.replace(' ', 'T')}Z`,
    };
  });
  return [collection, ...listings];
}
