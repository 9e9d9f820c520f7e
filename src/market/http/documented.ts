// What the document says of every route beside its success: the errors it can answer, and the headers they carry.

import Type from 'typebox';
import { RATE_LIMIT_HEADERS } from '../../http/openapi.ts';
import { chainSchema } from './schemas.ts';

type ErrorStatus = 400 | 404 | 429 | 500 | 502 | 503;

const ERRORS: Record<ErrorStatus, string> = {
  400: 'A path or query parameter is not valid (`bad_request`).',
  404: 'Not found (`not_found`).',
  429: 'The rate limit of this bucket is exhausted (`rate_limited`).',
  500: 'Something went wrong inside the service (`internal_error`).',
  502: 'The index cannot be read (`upstream_error`).',
  503: 'The service cannot reach its database (`unavailable`).',
};

/** The response table of a route: its success, the errors named, and those that any request can meet. */
export function responses(success: object, ...errors: ErrorStatus[]) {
  const all: ErrorStatus[] = [...errors, 429, 500, 503];
  return Object.fromEntries([
    [200, success],
    [304, { description: 'The caller holds the same answer (`If-None-Match`).', type: 'null' }],
    ...all.map((status) => [
      status,
      {
        description: ERRORS[status],
        ...(status === 429 && { headers: RATE_LIMIT_HEADERS }),
        content: { 'application/json': { schema: { $ref: 'Error#' } } },
      },
    ]),
  ]) as Record<string, object>;
}

export const collectionParams = Type.Object({
  id: Type.String({
    minLength: 1,
    description: 'Canonical collection id, platform slug, or contract address (EVM) or collection mint (Solana).',
  }),
});

/** Which of the two forms is right follows from the chain. */
const BASE58_FORM = '[1-9A-HJ-NP-Za-km-z]{32,44}';

export const tokenParams = Type.Object({
  chain: chainSchema,
  address: Type.String({
    pattern: `^(0[xX][0-9a-fA-F]{40}|${BASE58_FORM})$`,
    description: 'EVM contract address, or Solana collection mint.',
  }),
  tokenId: Type.String({
    pattern: `^(0|[1-9][0-9]{0,77}|${BASE58_FORM})$`,
    description: 'EVM token id (decimal), or Solana asset mint.',
  }),
});
