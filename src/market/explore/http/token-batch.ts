// POST /explore/v1/tokens/batch.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { ServiceError } from '../../../platform/core/errors.ts';
import { isJsonObject } from '../../../platform/core/json-text.ts';
import { CORS_HEADERS } from '../../../platform/http/cached-response.ts';
import { bodyOf } from '../../../platform/http/json-body.ts';
import { closed, refOrNull } from '../../../platform/http/schema-builders.ts';
import { marketResponses } from '../../reads/http/envelopes.ts';
import { EXAMPLE_COLLECTION, EXAMPLE_TOKEN } from '../../reads/http/example-collection.ts';
import { parseTokenLocation, tokenNames } from '../../reads/http/token.ts';
import type { Market } from '../../reads/market.ts';
import type { TokenLocation } from '../../reads/token.ts';
import { findTokens } from '../../reads/token.ts';
import type { ExploreContext } from './context.ts';
import { exploredDataOf, withMeta } from './offset-meta.ts';
import type { WireToken } from './token.ts';
import { readTokenPrices, toWireToken } from './token.ts';

const TOKENS_MAX = 100;

export const TokenBatchSchema = Type.Object(
  {
    tokens: Type.Array(
      Type.Object(tokenNames, { description: 'The token: the three parts of its path below `/v1/tokens`.', ...closed }),
      {
        minItems: 1,
        maxItems: TOKENS_MAX,
        description: 'The tokens to read.',
      },
    ),
  },
  {
    $id: 'TokenBatch',
    title: 'TokenBatch',
    description: 'A request for several tokens.',
    examples: [
      {
        tokens: [
          {
            chain: EXAMPLE_COLLECTION.chain,
            address: EXAMPLE_COLLECTION.contractAddress,
            tokenId: EXAMPLE_TOKEN.tokenId,
          },
        ],
      },
    ],
    ...closed,
  },
);

export function registerTokenBatchRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market } = context;
  app.post(
    '/explore/v1/tokens/batch',
    {
      config: { bucket: 'list', unreadableBody: INVALID },
      schema: {
        operationId: 'readTokens',
        summary: 'Read several tokens',
        description: `Reads up to ${TOKENS_MAX} tokens of any collections. \`data\` has one element for each token of the request, in the same order. The element is null for a token that does not exist or was burned. A token that is listed on this service exists, even if nothing else is known of it.`,
        tags: ['Tokens'],
        body: { $ref: 'TokenBatch#' },
        response: marketResponses(
          exploredDataOf(
            Type.Array(refOrNull<WireToken>('Token', 'A token; null if it does not exist or was burned.'), {
              description: 'The tokens.',
            }),
          ),
          400,
        ),
      },
    },
    async (request, reply) => {
      const wanted = parseBatch(market, bodyOf(request).value);
      // A token that the request names several times is read once.
      const locations = new Map(wanted.map((location) => [toLocationKey(location), location]));
      const readBatch = async () => {
        const { tokens: found } = await findTokens(market, market.tokenBatches, [...locations.values()], {
          openListed: true,
        });
        return {
          tokens: found,
          prices: await readTokenPrices(
            market,
            found.flatMap((token) => token ?? []),
          ),
        };
      };
      const {
        content: { tokens, prices },
        meta,
      } = await withMeta(context, readBatch);
      void reply.headers({ ...CORS_HEADERS, 'cache-control': 'no-store' });
      const rows = tokens.map((token) => (token && !token.isBurned ? toWireToken(context, token, prices) : null));
      const rowOf = new Map([...locations.keys()].map((key, index) => [key, rows[index] ?? null]));
      return { data: wanted.map((location) => rowOf.get(toLocationKey(location)) ?? null), meta };
    },
  );
}

const toLocationKey = ({ chain, contractAddress, asset }: TokenLocation) => `${chain.id} ${contractAddress} ${asset}`;

const INVALID = `The body must be a JSON object with a list \`tokens\` of 1 to ${TOKENS_MAX} tokens`;

function parseBatch(market: Market, body: unknown): TokenLocation[] {
  const tokens = isJsonObject(body) ? body['tokens'] : undefined;
  if (!Array.isArray(tokens) || tokens.length === 0 || tokens.length > TOKENS_MAX) {
    throw new ServiceError('bad_request', INVALID, { param: 'tokens' });
  }
  return tokens.map((names: unknown, index) => {
    const invalid = (param: string, mistake: string) =>
      new ServiceError('bad_request', `${param} ${mistake}`, { param });
    const prefix = `tokens[${index}]`;
    if (!isJsonObject(names)) throw invalid(prefix, 'must be a JSON object');
    return parseTokenLocation(market, names, (name, mistake) => invalid(`${prefix}.${name}`, mistake));
  });
}
