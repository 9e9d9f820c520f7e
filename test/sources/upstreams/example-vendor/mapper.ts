// Converts listings of the example marketplace to records in the public format.

import type { ParsedPage, SourceRecord } from '../../../../src/sources/upstreams/response-rows.ts';
import {
  parseRows,
  requiredAddress,
  requiredAsset,
  requiredText,
} from '../../../../src/sources/upstreams/response-rows.ts';

export const NAME = 'example';

export type ExampleContract = { chain: string; contractAddress: string };

export function parseListings(rows: readonly unknown[], { chain, contractAddress }: ExampleContract): ParsedPage {
  return parseRows(rows, (row): SourceRecord[] => [
    {
      kind: 'listing',
      source: NAME,
      chain,
      contractAddress,
      tokenId: requiredAsset(row, 'token', 'evm'),
      id: requiredText(row, 'id'),
      priceRaw: requiredText(row, 'wei'),
      seller: requiredAddress(row, 'seller', 'evm'),
      timestamp: requiredText(row, 'listed_at'),
    },
  ]);
}
