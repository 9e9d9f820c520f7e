// GET /explore/v1/wallets/{address}/collections.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { parseAnyAddress } from '../../../platform/core/address.ts';
import { ALL_COLLECTIONS } from '../../../platform/core/collection-versions.ts';
import { sealCursor } from '../../../platform/core/cursor.ts';
import { parameterError } from '../../../platform/core/errors.ts';
import { closed, dateTimeOrNull, refOrNull, typeOrNull } from '../../../platform/http/schema-builders.ts';
import type { Figure, ProvenanceKind } from '../../provenance/figure.ts';
import { PROVENANCE_KINDS } from '../../provenance/figure.ts';
import { chainSchema } from '../../reads/http/asset-identity.ts';
import {
  collectionIdentity,
  countOrNull,
  exampleCollectionIdentity,
  toCollectionIdentity,
} from '../../reads/http/collection-identity.ts';
import type { PageQuery } from '../../reads/http/envelopes.ts';
import { marketResponses, pageQuery, readCursor } from '../../reads/http/envelopes.ts';
import { EXAMPLE_TIME, EXAMPLE_TOKEN, toExamplePrice } from '../../reads/http/example-collection.ts';
import type { PriceContext, WirePrice } from '../../reads/http/price.ts';
import { toPriceOrNull } from '../../reads/http/price.ts';
import type { WalletCollection } from '../wallet-collections.ts';
import { TOTALS_MAX, listWalletCollections } from '../wallet-collections.ts';
import type { ExploreContext } from './context.ts';
import type { ImageLinks } from './images.ts';
import { collectionImageFields, toCollectionImages } from './images.ts';
import { exploreRoute, exploredPageOf } from './offset-meta.ts';
import { addExampleDecimals, readExplorePrices } from './price.ts';

const CACHE_POLICY = { sharedMaxAgeS: 5, staleWhileRevalidateS: 30 };

type Origin = { kind: ProvenanceKind; source: string | null; at: string | null } | null;

const originOf = (description: string) =>
  Type.Unsafe<Origin>({
    anyOf: [
      Type.Object(
        {
          kind: Type.Unsafe<ProvenanceKind>({
            type: 'string',
            enum: PROVENANCE_KINDS,
            description: 'As in `GET /explore/v1/collections/{id}/provenance`.',
          }),
          source: typeOrNull<string>('string', 'The chain, marketplace or import; null for a snapshot.'),
          at: dateTimeOrNull('When the figure was right; null if this is not known.'),
        },
        closed,
      ),
      { type: 'null' },
    ],
    description,
  });

export const WalletCollectionSchema = Type.Object(
  {
    ...collectionIdentity,
    ...collectionImageFields,
    tokens: countOrNull(
      'Number of tokens that the wallet is the recorded holder of. Null if none is recorded and some holders of the collection are not known.',
    ),
    units: typeOrNull<string>(
      'string',
      'Number of units that the wallet holds, as decimal digits. A token of an edition (ERC-1155) has several units, any other token one. Null if unknown.',
    ),
    listed: countOrNull('Number of tokens that the wallet has listed. Null if an order book cannot be read.'),
    floor: refOrNull<WirePrice>('Price', 'Floor of the collection; null if there is none, or if it is unknown.'),
    value: refOrNull<WirePrice>('Price', 'The units at the floor; null if one of the two is unknown.'),
    provenance: Type.Object(
      {
        tokens: originOf(
          'Where the holders of the collection are known from. Null if some are not known: the wallet may then have more tokens.',
        ),
        floor: originOf('Where the floor is known from. Null if it is unknown.'),
      },
      { description: 'Where the figures come from.', ...closed },
    ),
  },
  {
    $id: 'WalletCollection',
    title: 'WalletCollection',
    description: 'A collection in which a wallet has tokens or listings.',
    examples: [
      {
        ...exampleCollectionIdentity,
        tokens: 3,
        units: '3',
        listed: 1,
        floor: toExamplePrice(420n),
        value: toExamplePrice(1_260n),
        provenance: {
          tokens: { kind: 'chain', source: 'ethereum', at: EXAMPLE_TIME },
          floor: { kind: 'scan', source: 'listings', at: EXAMPLE_TIME },
        },
      },
    ],
    ...closed,
  },
);

const totals = Type.Unsafe<
  { currency: string; value: WirePrice | null; collections: number; unvalued: number }[] | null
>({
  type: ['array', 'null'],
  examples: addExampleDecimals([[{ currency: 'ETH', value: toExamplePrice(1_260n), collections: 1, unvalued: 0 }]]),
  items: Type.Object(
    {
      currency: Type.String({ description: 'Symbol of the currency.' }),
      value: refOrNull<WirePrice>(
        'Price',
        'The sum of the known values in this currency; null if none is known. It uses the stored floors, which follow changes within seconds.',
      ),
      collections: Type.Integer({ minimum: 0, description: 'Number of collections with tokens of the wallet.' }),
      unvalued: Type.Integer({
        minimum: 0,
        description: 'How many of these collections have no part in the sum, because their value is unknown.',
      }),
    },
    { description: 'The sum in one currency.', ...closed },
  ),
  description: `The values of all collections of the wallet on these chains, by currency. Null if the wallet has tokens of more than ${TOTALS_MAX} collections, or if the values cannot be read.`,
});

type Query = PageQuery & { chain?: string };

export function registerWalletCollectionsRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market, cursorSecret } = context;

  exploreRoute<Query>(app, context, {
    path: '/explore/v1/wallets/:address/collections',
    bucket: 'list',
    schema: {
      operationId: 'listWalletCollections',
      summary: 'List the collections of a wallet',
      description:
        'The collections in which the wallet is the recorded holder of tokens, or has listings, on all chains or on one, sorted by id, with the ' +
        'value of its tokens at the floor. `totals` has the sums by currency.',
      tags: ['Wallets'],
      params: Type.Object({
        address: Type.String({ description: 'EVM or Solana address of the wallet.', examples: [EXAMPLE_TOKEN.seller] }),
      }),
      querystring: Type.Object({ chain: Type.Optional(chainSchema), ...pageQuery }),
      response: marketResponses(exploredPageOf('WalletCollection', { members: { totals } }), 400, 502),
    },
    respond: async ({ address = '' }, { chain = null, cursor, limit }) => {
      const account = parseAnyAddress(address);
      if (!account) throw parameterError('address', 'is not an EVM or Solana address', 'Path');
      const scope = `wallet collections ${account} ${chain ?? '*'}`;
      const after = cursor === undefined ? null : readCursor(cursorSecret, { scope, list: 'this list' }, cursor);
      const [page, prices] = await Promise.all([
        listWalletCollections(market, { account, chain: market.chainOf(chain), after, limit }),
        readExplorePrices(market),
      ]);
      return {
        cacheTag: ALL_COLLECTIONS,
        policy: CACHE_POLICY,
        degraded: page.degraded,
        body: {
          data: page.rows.map((row) => toWireRow(context, row, prices)),
          pagination: {
            nextCursor: page.next && sealCursor(cursorSecret, scope, page.next),
            hasMore: page.next !== null,
          },
          totals:
            page.totals &&
            page.totals.map(({ chain: priced, valueRaw, collections, unvalued }) => ({
              currency: priced.symbol,
              value: toPriceOrNull(valueRaw, priced, prices),
              collections,
              unvalued,
            })),
        },
      };
    },
  });
}

function toWireRow(
  links: ImageLinks,
  row: WalletCollection,
  prices: PriceContext,
): Static<typeof WalletCollectionSchema> {
  const { collection, chain, tokens, units, listed, holders, floor, valueRaw } = row;
  return {
    ...toCollectionIdentity(collection),
    ...toCollectionImages(links, collection),
    tokens,
    units: units === null ? null : units.toString(),
    listed,
    floor: toPriceOrNull(floor?.value ?? null, chain, prices),
    value: toPriceOrNull(valueRaw, chain, prices),
    provenance: { tokens: toOrigin(holders), floor: toOrigin(floor) },
  };
}

function toOrigin(figure: Figure<unknown> | null): Origin {
  if (!figure) return null;
  const { kind, source, at } = figure;
  return { kind, source, at: at === null ? null : new Date(at).toISOString() };
}
