// GET /api/v1/changes: the feed of all changes of a shop, from which a copy of the shop is kept up to date.

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import Type from 'typebox';
import { Deadline } from '../../platform/core/deadline.ts';
import { closed, dataOf, dateTime, ref, typeOrNull } from '../../platform/http/schema-builders.ts';
import type { FeedPage } from '../changes.ts';
import { ChangeWaits, readChanges } from '../changes.ts';
import type { FeedRow } from '../queries/changes.ts';
import { hasScope } from './authenticate.ts';
import { authorize, callerOf, pageContextOf } from './authorize.ts';
import type { StoreRoutesContext } from './context.ts';
import { ADJUSTMENT_EXAMPLE, EXAMPLE_CHANGE_TIME, EXAMPLE_IDS } from './example-shop.ts';
import { toWireAdjustment } from './inventory-schemas.ts';
import { storeResponses } from './schemas.ts';

type ChangesQuery = { after: number; limit: number; wait: number };

const LIMIT_MAX = 500;
const WAIT_MAX_S = 20;
/** How long a read waits for its turn. With the longest wait for a change, it stays below 30 seconds. */
const TURN_MAX_MS = 4_000;

const CHANGE_TYPES = [
  'product.created',
  'product.updated',
  'product.deleted',
  'inventory.changed',
  'reservation.created',
  'reservation.consumed',
  'reservation.released',
  'reservation.expired',
];

const ChangeSchema = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1, description: 'The place of the change in the feed of the shop.' }),
    type: Type.Unsafe<string>({ type: 'string', enum: CHANGE_TYPES, description: 'What has changed.' }),
    at: dateTime('When the change was made.'),
    productId: typeOrNull<string>('string', 'Product id; null for a reservation, whose items name its products.'),
    object: Type.Unsafe<object | null>({
      anyOf: [ref('Product'), ref('Adjustment'), ref('Reservation'), { type: 'null' }],
      description:
        'What the change has made: the product, the entry of the adjustment log (`inventory.changed`) or the reservation; null for a product that was deleted.',
    }),
  },
  {
    $id: 'Change',
    title: 'Change',
    description: 'A change in a shop.',
    examples: [
      {
        sequence: 42,
        type: 'inventory.changed',
        at: EXAMPLE_CHANGE_TIME,
        productId: EXAMPLE_IDS.product,
        object: ADJUSTMENT_EXAMPLE,
      },
    ],
    ...closed,
  },
);

export const CHANGE_SCHEMAS = [ChangeSchema];

export function registerChangeRoutes(app: FastifyInstance, context: StoreRoutesContext): void {
  const waits = new ChangeWaits(context.shop.main);
  app.addHook('preClose', async () => waits.close());
  app.get(
    '/api/v1/changes',
    {
      onRequest: authorize(context, 'products:read', 'inventory:read'),
      config: { bucket: 'key' },
      schema: {
        operationId: 'listChanges',
        summary: 'Read what has changed',
        description:
          'Every change of the shop, in one order: a reader that has received a sequence number never receives a smaller one later. Pass ' +
          '`meta.sequence` as `after` of the next request. Changes are kept for 30 days. A key with the scope `products:read` gets the changes of ' +
          'products, and one with `inventory:read` those of stock and reservations.',
        tags: ['Changes'],
        querystring: Type.Object({
          after: Type.Integer({
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            description: 'Only changes after this sequence number. 0: from the first change on.',
          }),
          limit: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: LIMIT_MAX,
              default: 100,
              description: 'The most changes in the response.',
            }),
          ),
          wait: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: WAIT_MAX_S,
              default: 0,
              description: 'For how many seconds the response waits if there is no change.',
            }),
          ),
        }),
        response: storeResponses(
          200,
          dataOf(Type.Array(ref('Change')), {
            meta: Type.Object(
              {
                sequence: Type.Integer({ minimum: 0, description: 'The `after` of the next request.', examples: [42] }),
                hasMore: Type.Boolean({ description: 'Whether more changes may follow at once.', examples: [false] }),
              },
              { description: 'The place of the page in the feed.', ...closed },
            ),
          }),
          410,
        ),
      },
    },
    async (request, reply) => {
      const { limit, wait, ...given } = request.query as ChangesQuery;
      const caller = callerOf(request);
      const { shopId } = caller;
      const parts = { products: hasScope(caller, 'products:read'), inventory: hasScope(caller, 'inventory:read') };
      const deadline = Deadline.after(wait * 1000);
      const signal = closeSignalOf(reply);
      const read = (after: number) => {
        const { main, clock } = pageContextOf(request, Deadline.after(TURN_MAX_MS));
        return readChanges(main, shopId, { ...parts, after, limit }, clock);
      };
      let page = await read(given.after);
      const hasNext = ({ sequence, hasMore }: FeedPage) =>
        hasMore ? !deadline.hasPassed : waits.wait(shopId, sequence, { deadline, signal });
      while (page.rows.length === 0 && (await hasNext(page))) {
        page = await read(page.sequence);
      }
      const { rows, sequence, hasMore } = page;
      return { data: rows.map(toWireChange), meta: { sequence, hasMore } };
    },
  );
}

/** A signal that aborts when the connection of the response closes. */
function closeSignalOf({ raw }: FastifyReply): AbortSignal {
  const closing = new AbortController();
  raw.once('close', () => closing.abort());
  return closing.signal;
}

function toWireChange(row: FeedRow): Static<typeof ChangeSchema> {
  const sequence = row.position;
  if (row.kind === 'adjustment') {
    const object = toWireAdjustment(row.adjustment);
    return { sequence, type: 'inventory.changed', at: object.createdAt, productId: object.productId, object };
  }
  const { type } = row;
  const at = new Date(row.at).toISOString();
  const data = JSON.parse(row.data) as { id: string; changed?: string[] };
  if (type.startsWith('reservation.')) return { sequence, type, at, productId: null, object: data };
  const { changed: _changed, ...product } = data;
  return { sequence, type, at, productId: data.id, object: type === 'product.deleted' ? null : product };
}
