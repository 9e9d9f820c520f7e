// The format in which `mercat import` reads recorded DAS responses.

import type { RecordedFormat, RecordedRows } from '../recorded-format.ts';
import { CHAIN, CONTRACT_ADDRESS, listUnder, toNoRows } from '../recorded-format.ts';
import { emptyPage, isRow } from '../response-rows.ts';
import { parseDasTokens } from './assets.ts';

export const DAS_FORMATS: readonly RecordedFormat[] = [
  {
    name: 'das-assets',
    fields: { chain: { ...CHAIN, isOptional: true }, contractAddress: { ...CONTRACT_ADDRESS, isOptional: true } },
    createReader: (fields) => {
      fields.chain('solana');
      const collection = fields.text('contractAddress') === null ? null : fields.contractAddress('solana');
      return {
        toRows: (response, { isElement }) =>
          toAssets(response) ?? (!isElement && isAsset(response) ? [response] : null),
        // An endpoint returns null in place of an asset that it does not know.
        parse: (row) => (row === null ? { ...emptyPage(), skipped: 1 } : parseDasTokens([row], collection)),
        skipped: 'fungible, burnt, unknown to the endpoint, or of no collection',
      };
    },
  },
];

/**
 * The assets of a JSON-RPC response. The result of the response is a page, a list or one asset. A file may also contain a page or a list
 * without the response around it. Null if the value is itself an asset: the caller then takes the value as one row.
 */
function toAssets(response: unknown): RecordedRows | null {
  if (Array.isArray(response)) return response;
  if (!isRow(response)) return null;
  const { error, result, items } = response;
  if (isRow(error)) return toNoRows(`is an error: ${String(error['message']).slice(0, ERROR_LENGTH_MAX)}`);
  if (result !== undefined) return toAssets(result) ?? [result];
  return items === undefined ? null : listUnder(response, ['items']);
}

/** Whether a value is the result of `getAsset`. */
function isAsset(value: unknown): boolean {
  return isRow(value) && typeof value['id'] === 'string' && isRow(value['ownership']);
}

const ERROR_LENGTH_MAX = 200;
