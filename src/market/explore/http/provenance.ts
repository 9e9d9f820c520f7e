// GET /explore/v1/collections/{id}/provenance.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { closed, dateTimeOrNull, ref, typeOrNull } from '../../../platform/http/schema-builders.ts';
import type { CollectionDetail } from '../../reads/collection.ts';
import { readCollectionDetail } from '../../reads/collection.ts';
import { collectionParams } from '../../reads/http/collection-identity.ts';
import { marketResponses } from '../../reads/http/envelopes.ts';
import { valueOrNull } from '../../reads/market-source.ts';
import type { Figure, ProvenanceKind } from '../../provenance/figure.ts';
import { PROVENANCE_KINDS } from '../../provenance/figure.ts';
import type { RankSource } from '../../index/queries/rarity.ts';
import { findRankSource } from '../../index/queries/rarity.ts';
import { RARITY_METHOD } from '../../index/rarity.ts';
import { cacheTagOf } from '../../reads/resolve-collection.ts';
import { readTopBids, toSubjectKey } from '../bids.ts';
import type { TopBid } from '../queries/bids.ts';
import type { ExploreContext } from './context.ts';
import { exploreRoute, exploredDataOf } from './offset-meta.ts';

const CACHE_POLICY = { sharedMaxAgeS: 10, staleWhileRevalidateS: 60 };

const FIGURES = [
  'floor',
  'volume.allTime',
  'volume.thirtyDay',
  'volume.sevenDay',
  'volume.twentyFourHour',
  'volume.oneHour',
  'sales.allTime',
  'sales.thirtyDay',
  'sales.sevenDay',
  'sales.twentyFourHour',
  'sales.oneHour',
  'supply',
  'owners',
  'listedCount',
  'topBid',
  'rarity.rank',
] as const;
type FigureName = (typeof FIGURES)[number];

const KINDS = [...PROVENANCE_KINDS, 'unknown'] as const;

export const ProvenanceSchema = Type.Object(
  {
    figures: Type.Array(
      Type.Object(
        {
          figure: Type.Unsafe<FigureName>({
            type: 'string',
            enum: FIGURES,
            description:
              'The field below `stats` in `GET /explore/v1/collections/{id}`, or `rarity.rank` for the rarity ranks of the tokens.',
          }),
          kind: Type.Unsafe<ProvenanceKind | 'unknown'>({
            type: 'string',
            enum: KINDS,
            description:
              '`chain`: computed from the events of the followed chain; for `topBid`, a bid of this service, which the chain decides about. `scan`: counted in a list of a marketplace that was read to its end. ' +
              '`reported`: stated by a marketplace, also a bid. `imported`: computed from records of the operator. `snapshot`: stored with the ' +
              'collection record. `unknown`: the figure is null at present.',
          }),
          source: typeOrNull<string>('string', 'The chain, marketplace or import; null for a snapshot, or if unknown.'),
          at: dateTimeOrNull('When the figure was right; null if this is not known.'),
          complete: Type.Boolean({
            description:
              'True if the figure covers all that its name says. An incomplete figure is served as null. For `rarity.rank`: ' +
              'true if each token has a rank.',
          }),
          reason: typeOrNull<string>(
            'string',
            'Why the figure is null, such as `2 stored sales have a price or currency that cannot be read`. Null for a figure with a value, and if ' +
              'no source has stated the figure.',
          ),
          method: typeOrNull<string>(
            'string',
            'For `rarity.rank`: `information-content` if the service computed the ranks from the traits of the tokens, null if the ' +
              'source states the ranks. Null for every other figure.',
          ),
        },
        { description: 'Where one figure comes from.', ...closed },
      ),
      { description: 'One entry for each figure.' },
    ),
  },
  {
    $id: 'Provenance',
    title: 'Provenance',
    description: 'Where the figures of a collection come from.',
    examples: [
      {
        figures: [
          {
            figure: 'floor',
            kind: 'scan',
            source: 'opensea',
            at: '2026-06-01T08:58:12.000Z',
            complete: true,
            reason: null,
            method: null,
          },
          {
            figure: 'supply',
            kind: 'chain',
            source: 'ethereum',
            at: '2026-06-01T08:59:47.000Z',
            complete: true,
            reason: null,
            method: null,
          },
          {
            figure: 'rarity.rank',
            kind: 'chain',
            source: 'ethereum',
            at: '2026-06-01T08:51:02.000Z',
            complete: true,
            reason: null,
            method: RARITY_METHOD,
          },
          {
            figure: 'volume.allTime',
            kind: 'unknown',
            source: null,
            at: null,
            complete: false,
            reason: '2 stored sales have a price or currency that cannot be read',
            method: null,
          },
        ],
      },
    ],
    ...closed,
  },
);
type WireProvenance = Static<typeof ProvenanceSchema>;

export function registerProvenanceRoute(app: FastifyInstance, context: ExploreContext): void {
  exploreRoute(app, context, {
    path: '/explore/v1/collections/:id/provenance',
    bucket: 'single',
    schema: {
      operationId: 'getProvenance',
      summary: 'Read where the figures of a collection come from',
      description:
        'The kind, the source and the time of each figure that `GET /explore/v1/collections/{id}` serves, and of the rarity ranks of the tokens.',
      tags: ['Collections'],
      params: collectionParams,
      response: marketResponses(exploredDataOf(ref('Provenance')), 400, 404),
    },
    respond: async ({ id = '' }) => {
      const { market } = context;
      const detail = await readCollectionDetail(market, id);
      const subject = { collectionId: detail.collection.id, asset: null };
      const [ranks, topBids] = await Promise.all([
        market.tokenLists.read((db) => findRankSource(db, subject.collectionId)),
        readTopBids(market, [subject]),
      ]);
      const topBid = topBids?.get(toSubjectKey(subject)) ?? null;
      return {
        cacheTag: cacheTagOf(detail.collection, id),
        policy: CACHE_POLICY,
        validUntil: topBid?.expiresAt ?? null,
        degraded: detail.degraded || !ranks.ok || topBids === null,
        body: { data: toWireProvenance(detail, { ranks: valueOrNull(ranks), topBid }) },
      };
    },
  });
}

function toWireProvenance(
  { collection, floor, volume, sales, unread, isPartial, supply, owners, listedCount }: CollectionDetail,
  { ranks, topBid }: { ranks: RankSource | null; topBid: TopBid | null },
): WireProvenance {
  const figures: Record<FigureName, Provenance | null> = {
    floor,
    'volume.allTime': volume.allTime,
    'volume.thirtyDay': volume.thirtyDay,
    'volume.sevenDay': volume.sevenDay,
    'volume.twentyFourHour': volume.twentyFourHour,
    'volume.oneHour': volume.oneHour,
    'sales.allTime': sales.allTime,
    'sales.thirtyDay': sales.thirtyDay,
    'sales.sevenDay': sales.sevenDay,
    'sales.twentyFourHour': sales.twentyFourHour,
    'sales.oneHour': sales.oneHour,
    supply,
    owners,
    listedCount,
    topBid: topBid && toBidProvenance(topBid, collection.chain),
    'rarity.rank': ranks && toRankProvenance(ranks),
  };
  const partialReason = isPartial ? 'the imported sales are fewer than a record of the collection states' : null;
  const reasons: Partial<Record<FigureName, string | null>> = {
    'volume.allTime': toUnreadReason(unread.allTime) ?? partialReason,
    'sales.allTime': partialReason,
    'volume.thirtyDay': toUnreadReason(unread.thirtyDay),
    'volume.sevenDay': toUnreadReason(unread.sevenDay),
    'volume.twentyFourHour': toUnreadReason(unread.twentyFourHour),
    'volume.oneHour': toUnreadReason(unread.oneHour),
  };
  return {
    figures: FIGURES.map((figure) => {
      const known = figures[figure];
      if (!known) {
        const reason = reasons[figure] ?? null;
        return { figure, kind: 'unknown', source: null, at: null, complete: false, reason, method: null };
      }
      const { kind, source, at, complete, method = null } = known;
      return {
        figure,
        kind,
        source,
        at: at === null ? null : new Date(at).toISOString(),
        complete,
        reason: null,
        method,
      };
    }),
  };
}

function toUnreadReason(unread: number): string | null {
  if (unread === 0) return null;
  return unread === 1
    ? '1 stored sale has a price or currency that cannot be read'
    : `${unread} stored sales have a price or currency that cannot be read`;
}

type Provenance = Pick<Figure<unknown>, 'kind' | 'source' | 'at' | 'complete'> & { method?: string };

/** The chain decides about a bid of this service. A bid of a marketplace is what the marketplace has reported. */
function toBidProvenance({ source }: TopBid, chain: string | null): Provenance {
  return { kind: source === null ? 'chain' : 'reported', source: source ?? chain, at: null, complete: true };
}

function toRankProvenance({ isComplete, ...ranks }: RankSource): Provenance {
  if (ranks.isReported) {
    const kind = ranks.reportedBy === 'import' ? 'imported' : 'reported';
    return { kind, source: ranks.reportedBy, at: null, complete: isComplete };
  }
  const kind = PROVENANCE_KINDS.find((one) => one === ranks.kind) ?? 'scan';
  return { kind, source: ranks.source, at: ranks.rankedAt, complete: isComplete, method: RARITY_METHOD };
}
