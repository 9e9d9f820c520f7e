// POST /intake/v1/records: a file of records streams in, and what becomes of it streams out, one JSON event a line. Who may
// do this is decided by the door that it is mounted behind.

import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { describeError, ServiceError } from '../../core/errors.ts';
import type { ImportContext } from '../import.ts';
import { ImportFailure, importRecords } from '../import.ts';
import type { Importer } from '../ingest/products.ts';
import type { ResponseEvent, RequestOptions } from '../import-protocol.ts';
import { parseRequestQuery, RECORDS_PATH } from '../import-protocol.ts';
import type { IntakeAccess } from './access.ts';
import { intakeResponses } from './schemas.ts';

/** A client that does not read its answer for this long is taken for dead. */
const READ_WAIT_MAX_MS = 60_000;
/** How long a client may go on sending after it was told that the import has failed. */
const FAREWELL_MAX_MS = 5_000;

export function registerRecordRoutes(app: FastifyInstance, context: ImportContext, access: IntakeAccess): void {
  const running = new Map<AbortController, Promise<void>>();
  app.addHook('preClose', async () => {
    for (const controller of running.keys()) controller.abort(new Error('the server is stopping'));
    await Promise.allSettled(running.values());
  });
  app.register((scope, _options, done) => {
    // The body is a stream of any type: it is read as it comes, never parsed here.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    const routeOptions = {
      onRequest: access.authorize('intake:write'),
      bodyLimit: Number.MAX_SAFE_INTEGER,
      schema: DOCUMENTED,
    };
    scope.post(RECORDS_PATH, routeOptions, async (request, reply) => {
      const options = parseRequestQuery(toPlainQuery(request.query));
      reply.hijack();
      const controller = new AbortController();
      const { recordsBytesMax: bytesMax } = access;
      const importer = access.importerOf(request);
      const work = serve(context, {
        request: request.raw,
        response: reply.raw,
        options: { ...options, importer },
        controller,
        bytesMax,
      });
      running.set(controller, work);
      await work.finally(() => running.delete(controller));
    });
    done();
  });
}

const DOCUMENTED = {
  operationId: 'importRecords',
  summary: 'Import records',
  description:
    'Newline-delimited JSON, or CSV with a column map, of at most 64 MiB. What becomes of it is answered as it happens, one JSON event a line: `refused` with the line and the reason, `progress`, and at the end `done` with the counts or `error`. A status of 200 only says that the stream began. Scope `intake:write`.',
  tags: ['Records'],
  consumes: ['application/x-ndjson', 'text/csv'],
  querystring: Type.Object({
    format: Type.Optional(
      Type.String({ enum: ['ndjson', 'csv'], default: 'ndjson', description: 'What the body is written in.' }),
    ),
    dryRun: Type.Optional(
      Type.String({ enum: ['true', 'false'], default: 'false', description: 'Check everything, keep nothing.' }),
    ),
    map: Type.Optional(Type.String({ description: 'Which column is which field, as JSON: needed for CSV.' })),
  }),
  response: intakeResponses(200, {
    description: 'One event a line.',
    content: { 'application/x-ndjson': { schema: { type: 'string' } } },
  }),
};

/** The public server keeps every value of a parameter; here each has one. */
function toPlainQuery(query: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query as Record<string, unknown>).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      if (value.length !== 1 || value[0] === null) {
        throw new ServiceError('bad_request', `${name}: must be given once, as well-formed text`);
      }
      return [name, value[0] as string];
    }),
  );
}

type Exchange = {
  request: IncomingMessage;
  response: ServerResponse;
  options: RequestOptions & { importer: Importer };
  controller: AbortController;
  bytesMax: number;
};

async function serve(context: ImportContext, exchange: Exchange): Promise<void> {
  try {
    await answer(context, exchange);
  } finally {
    await sayFarewell(exchange);
  }
}

/** Imports the body and writes the events: the answer itself says what went wrong. */
async function answer(context: ImportContext, exchange: Exchange): Promise<void> {
  const { request, response, options, controller, bytesMax } = exchange;
  const leave = () => controller.abort(new Error('the client went away'));
  response.once('close', leave).on('error', leave);
  request.on('error', leave);
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  response.flushHeaders();
  const send = (event: ResponseEvent) => write(response, event, controller);
  try {
    // Left open when the import stops early: its socket still has to carry the answer.
    const body = limitSize({ [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) }, bytesMax);
    const summary = await importRecords(context, body, { ...options, signal: controller.signal, onEvent: send });
    await send({ event: 'done', ...summary });
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
    const reason = describeError(error.cause);
    await send({ event: 'error', message: error.message, reason, summary: error.summary });
  } finally {
    response.off('close', leave);
  }
}

async function* limitSize(chunks: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > bytesMax) throw new Error(`the body is larger than ${bytesMax} bytes`);
    yield chunk;
  }
}

/** Writes one event, and waits where the client is slow to read. */
async function write(response: ServerResponse, event: ResponseEvent, controller: AbortController): Promise<void> {
  if (response.destroyed || response.write(`${JSON.stringify(event)}\n`)) return;
  if (await happens(response, ['drain', 'close', 'error'], READ_WAIT_MAX_MS)) return;
  controller.abort(new Error('the client does not read its answer'));
  response.destroy();
}

/** Ends the answer when the client has stopped sending: a socket closed on unread bytes would lose what it was told. */
async function sayFarewell({ request, response }: Exchange): Promise<void> {
  if (!request.readableEnded && !request.destroyed) {
    const ended = happens(request, ['end', 'close'], FAREWELL_MAX_MS);
    // The import may have left in the middle of a read, which would hold the bytes back for ever.
    request.removeAllListeners('readable').resume();
    await ended;
  }
  response.end();
}

/** Resolves when one of the events happens, or with false when none does in time. */
function happens(emitter: EventEmitter, events: readonly string[], limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (happened: boolean) => {
      clearTimeout(timer);
      for (const event of events) emitter.off(event, happen);
      resolve(happened);
    };
    const happen = () => finish(true);
    const timer = setTimeout(() => finish(false), limitMs);
    for (const event of events) emitter.once(event, happen);
  });
}
