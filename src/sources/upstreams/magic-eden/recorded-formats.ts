// The formats of recorded Magic Eden responses that `mercat import` can read.

import type { RecordedField, RecordedFields, RecordedFormat } from '../recorded-format.ts';
import { CHAIN, CONTRACT_ADDRESS, listUnder, throwUsage, toArrayRows } from '../recorded-format.ts';
import { hasMagicEdenAsks, parseMagicEdenAsks } from './evm.ts';
import type { MagicEdenCollection } from './solana.ts';
import { parseMagicEdenListings, parseMagicEdenSales } from './solana.ts';

const SYMBOL: RecordedField = { placeholder: 'SYMBOL (the name that Magic Eden has for the collection)' };
const AT: RecordedField = { placeholder: 'TIME (when the responses were recorded; the responses do not contain it)' };
const SOLANA_CHAIN: RecordedField = { ...CHAIN, isOptional: true };

export const MAGIC_EDEN_FORMATS: readonly RecordedFormat[] = [
  {
    name: 'magic-eden-listings',
    fields: { contractAddress: CONTRACT_ADDRESS, symbol: SYMBOL, at: AT, chain: SOLANA_CHAIN },
    createReader: (fields) => {
      const collection = readCollection(fields);
      const now = fields.recordedAt();
      return {
        toRows: toArrayRows,
        parse: (row) => parseMagicEdenListings([row], collection, { now }),
        skipped: 'not listings',
      };
    },
  },
  {
    name: 'magic-eden-activities',
    fields: { contractAddress: CONTRACT_ADDRESS, symbol: SYMBOL, chain: SOLANA_CHAIN },
    createReader: (fields) => {
      const collection = readCollection(fields);
      return {
        toRows: toArrayRows,
        parse: (row) => parseMagicEdenSales([row], collection, { now: fields.now, since: 0 }),
        skipped: 'no sale',
      };
    },
  },
  {
    name: 'magic-eden-asks',
    fields: { chain: CHAIN, contractAddress: CONTRACT_ADDRESS },
    createReader: (fields) => {
      const chain = fields.chain('evm');
      if (!hasMagicEdenAsks(chain)) throwUsage(`--set chain: Magic Eden has no asks on ${chain.id}`);
      const contract = { chain, contractAddress: fields.contractAddress('evm'), begunBy: fields.now };
      return {
        toRows: (response) => listUnder(response, ['asks', 'orders']),
        parse: (row) => parseMagicEdenAsks([row], contract),
        skipped: 'not active, not begun, or of another marketplace',
      };
    },
  },
];

function readCollection(fields: RecordedFields): MagicEdenCollection {
  fields.chain('solana');
  return { symbol: fields.text('symbol') ?? '', contractAddress: fields.contractAddress('solana') };
}
