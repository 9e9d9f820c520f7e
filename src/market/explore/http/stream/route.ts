// GET /explore/v1/stream.

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { ACTIVITY_KINDS } from '../../../activity/market-change.ts';
import { listRemoved } from '../../../activity/queries/activity-log.ts';
import { parameterError, ServiceError } from '../../../../platform/core/errors.ts';
import { leaveRequestsInProgress } from '../../../../platform/http/requests-in-progress.ts';
import { marketResponses } from '../../../reads/http/envelopes.ts';
import { EXAMPLE_COLLECTION } from '../../../reads/http/example-collection.ts';
import type { Market } from '../../../reads/market.ts';
import { requireValue } from '../../../reads/market-source.ts';
import { findCollections, locationOf } from '../../../reads/resolve-collection.ts';
import type { ActivityFeed } from '../../stream/activity-feed.ts';
import { toStreamFilter } from '../../stream/stream-entry.ts';
import type { StreamPosition } from '../../stream/offset.ts';
import { OLDEST_OFFSET, parseOffset, toExampleOffset } from '../../stream/offset.ts';
import { EXAMPLE_ACTIVITY } from '../activity.ts';
import type { ExploreContext } from '../context.ts';
import { sendEmptyStream } from './empty-stream.ts';
import { STREAM_HEADERS, STREAM_PATH } from './event-stream.ts';
import { RETRY_AFTER_S } from './subscriptions.ts';

const COLLECTIONS_MAX = 100;
const COLLECTION_ID_LENGTH_MAX = 200;
const LIST_LENGTH_MAX = COLLECTIONS_MAX * (COLLECTION_ID_LENGTH_MAX + 1);

type Query = { from?: string; collections?: string; kinds?: string };

export function registerStreamRoute(app: FastifyInstance, context: ExploreContext): void {
  const { market, stream, clientAddress } = context;
  app.get<{ Querystring: Query }>(
    STREAM_PATH,
    {
      config: { bucket: 'single' },
      schema: {
        operationId: 'streamActivity',
        summary: 'Follow the activity',
        description:
          'The activity as server-sent events, as it happens. Each event has the offset as `id`, the kind as `event`, and an Activity as `data` on one ' +
          'line. A client that sends the last `id` in the header `Last-Event-ID`, as an EventSource does by itself, resumes after this event. Without ' +
          '`from` and `Last-Event-ID` the stream begins with the next event.',
        tags: ['Activity'],
        headers: Type.Object({
          'Last-Event-ID': Type.Optional(
            Type.String({
              description: 'The offset of the last event that the client has. It has precedence over `from`.',
            }),
          ),
        }),
        querystring: Type.Object({
          from: Type.Optional(
            Type.String({
              description:
                'An offset, such as `meta.offset` of a response: the stream begins after this offset. `0`: the stream begins with the oldest event that is still stored.',
              examples: [OLDEST_OFFSET],
            }),
          ),
          collections: Type.Optional(
            Type.String({
              maxLength: LIST_LENGTH_MAX,
              description: `Only events of these collections: at most ${COLLECTIONS_MAX} canonical ids, slugs or addresses, separated by commas. An event of the kind reorg is sent if it takes back events of one of them.`,
              examples: [EXAMPLE_COLLECTION.id],
            }),
          ),
          kinds: Type.Optional(
            Type.String({
              description:
                'Only events of these kinds, separated by commas. Name `reorg` as well, because events of this kind take other events back.',
              examples: ['sale,list,reorg'],
            }),
          ),
        }),
        response: marketResponses(
          {
            description: 'Server-sent events, until the client or the service ends the connection.',
            content: { 'text/event-stream': { schema: { type: 'string', examples: [toExampleStream()] } } },
          },
          400,
          404,
          410,
        ),
      },
    },
    async (request, reply) => {
      const { from, collections, kinds } = request.query;
      const names = collections === undefined ? null : parseCollections(collections);
      const wanted = kinds === undefined ? null : parseKinds(kinds);
      const position = parseStart(lastEventIdOf(request.raw), from);
      void reply.headers({ 'retry-after': RETRY_AFTER_S });
      const place = stream.enter(clientAddress(request.raw));
      void reply.removeHeader('retry-after');
      try {
        const start = await ifReadable(async () => ({
          start: await findStart(stream.feed, position),
          filter: toStreamFilter(names && (await resolveLogged(market, names)), wanted),
        }));
        reply.hijack();
        if (start === null) {
          place.leave();
          sendEmptyStream(reply.raw);
          return;
        }
        reply.raw.writeHead(200, STREAM_HEADERS);
        if (request.method === 'HEAD' || reply.raw.destroyed) {
          place.leave();
          reply.raw.end();
          return;
        }
        leaveRequestsInProgress(reply.raw);
        stream.open(reply.raw, place, start);
      } catch (error) {
        place.leave();
        throw error;
      }
    },
  );
}

/**
 * The ids under which the activity log has the changes of the collections with these names. The canonical id of a removed collection is accepted: a
 * client that was away during the removal resumes with it, and has to receive the event `remove`.
 */
async function resolveLogged(market: Market, names: readonly string[]): Promise<string[]> {
  const found = await findCollections(market, names);
  const unknown = names.filter((_, index) => !found[index]);
  const readRemoved = () => market.activityLog.read((db) => listRemoved(db, unknown));
  const removed = new Set(unknown.length === 0 ? [] : requireValue(await readRemoved(), 'unavailable'));
  return names.map((name, index) => {
    const one = found[index];
    if (one) return locationOf(market, one)?.collectionId ?? one.id;
    if (removed.has(name)) return name;
    throw new ServiceError('not_found', `Collection ${name} not found`);
  });
}

/** Where the stream begins. `now`: after the newest event. `oldest`: with the oldest kept event. Otherwise after this position. */
type Start = StreamPosition | 'now' | 'oldest';

/** An EventSource that has received no `id` may send an empty header. An empty header is no offset. */
function lastEventIdOf({ headers }: IncomingMessage): string | undefined {
  const sent = headers['last-event-id'];
  return typeof sent === 'string' && sent !== '' ? sent : undefined;
}

function parseStart(lastEventId: string | undefined, from: string | undefined): Start {
  const text = lastEventId ?? from;
  if (text === undefined) return 'now';
  if (text === OLDEST_OFFSET) return 'oldest';
  const position = parseOffset(text);
  if (position !== null) return position;
  if (lastEventId === undefined) throw parameterError('from', 'is not an offset of the stream');
  throw new ServiceError('bad_request', 'Header Last-Event-ID is not an offset of the stream', {
    param: 'Last-Event-ID',
  });
}

/** Throws `gone` if the log does not have the events after the start, and `unavailable` while the log cannot be read. */
async function findStart(feed: ActivityFeed, start: Start): Promise<StreamPosition> {
  if (start === 'now') return feed.newest;
  if (start === 'oldest') return feed.start;
  await feed.requireKept(start);
  return start;
}

/** Null while the primary database cannot be read. */
async function ifReadable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unavailable') return null;
    throw error;
  }
}

function parseCollections(text: string): string[] {
  const names = text.split(',');
  const areReadable = names.every((name) => name !== '' && name.length <= COLLECTION_ID_LENGTH_MAX);
  if (names.length <= COLLECTIONS_MAX && areReadable) return names;
  throw parameterError('collections', `must be 1 to ${COLLECTIONS_MAX} collections, separated by commas`);
}

function parseKinds(text: string): string[] {
  const kinds = text.split(',');
  const known: ReadonlySet<string> = new Set(ACTIVITY_KINDS);
  if (!kinds.every((kind) => known.has(kind))) {
    throw parameterError('kinds', `must be kinds of activity, separated by commas: ${ACTIVITY_KINDS.join(', ')}`);
  }
  return kinds;
}

function toExampleStream(): string {
  return `retry: 2000\nid: ${toExampleOffset(41)}\n\nid: ${EXAMPLE_ACTIVITY.offset}\nevent: ${EXAMPLE_ACTIVITY.kind}\ndata: ${JSON.stringify(EXAMPLE_ACTIVITY)}\n\n`;
}
