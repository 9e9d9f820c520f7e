// The kinds of recorded OpenSea responses that `mercat import` can read.

import type { RecordedFields, RecordedFormat } from '../recorded-format.ts';
import { CHAIN, CONTRACT_ADDRESS, listUnder, throwUsage } from '../recorded-format.ts';
import { isRow } from '../response-rows.ts';
import { parseOpenSeaListings } from './listings.ts';
import type { OpenSeaContract } from './names.ts';
import { toOpenSeaChain } from './names.ts';
import { parseOpenSeaSales } from './sales.ts';
import { parseOpenSeaTokens } from './tokens.ts';

const FIELDS = { chain: CHAIN, contractAddress: CONTRACT_ADDRESS };

export const OPENSEA_FORMATS: readonly RecordedFormat[] = [
  {
    name: 'opensea-listings',
    fields: FIELDS,
    createReader: (fields) => {
      const contract = readContract(fields);
      return {
        // The older API calls the list `orders`.
        toRows: (response) => listUnder(response, ['listings', 'orders']),
        parse: (row) => parseOpenSeaListings([row], contract, { begunBy: fields.now }),
        skipped: 'inactive, not begun, or of another chain or contract',
      };
    },
  },
  {
    name: 'opensea-events',
    fields: FIELDS,
    createReader: (fields) => {
      const contract = readContract(fields);
      return {
        toRows: (response) => listUnder(response, ['asset_events']),
        parse: (row) => parseOpenSeaSales([row], contract),
        skipped: 'no sale, or of another chain or contract',
      };
    },
  },
  {
    name: 'opensea-nfts',
    fields: FIELDS,
    createReader: (fields) => {
      const contract = readContract(fields);
      return {
        // A response with a single token has the field `nft` and no list.
        toRows: (response) =>
          isRow(response) && isRow(response['nft']) ? [response['nft']] : listUnder(response, ['nfts']),
        parse: (row) => parseOpenSeaTokens([row], contract),
        skipped: 'disabled',
      };
    },
  },
];

function readContract(fields: RecordedFields): OpenSeaContract {
  const chain = fields.chain('evm');
  if (toOpenSeaChain(chain) === null) throwUsage(`--set chain: OpenSea has no ${chain.id}`);
  return { chain, contractAddress: fields.contractAddress('evm') };
}
