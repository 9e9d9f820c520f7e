// POST /intake/v1/records: imports a stream of records. The response is a stream of JSON events, one on each line.

import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { ServiceError } from '../../platform/core/errors.ts';
import { allowLongBody } from '../../platform/http/body-time.ts';
import type { ImportContext, ImportEvent } from '../import.ts';
import { describeStop, ImportFailure, importRecords, ImportStopped } from '../import.ts';
import type { Importer } from '../ingest/products.ts';
import type { ResponseEvent, RequestOptions } from '../import-protocol.ts';
import { parseRequestQuery, RECORDS_PATH, STOPPED_TRAILER } from '../import-protocol.ts';
import type { IntakeAccess } from './access.ts';
import { IMPORT_BODY, BODY_EXAMPLE_TEXT, IMPORT_RESPONSE } from './record-schemas.ts';
import { intakeResponses } from './schemas.ts';

/** If the client does not read the response for this long, the import is stopped. */
const READ_TIMEOUT_MS = 60_000;
/** After an import that ended early, the rest of the request is read for at most this long. */
const DRAIN_TIMEOUT_MS = 5_000;
/** And at most this many bytes of it. A client that sends more than both is cut off. */
const DRAIN_BYTES_MAX = 16 * 1024 * 1024;
/** The most characters of events that wait for the response to begin. Of further events only the number is sent. */
const WAITING_CHARACTERS_MAX = 1024 * 1024;

export function registerRecordRoutes(app: FastifyInstance, context: ImportContext, access: IntakeAccess): void {
  const running = new Map<ImportStream, Promise<void>>();
  app.addHook('preClose', async () => {
    for (const stream of running.keys()) stream.abort(new ImportStopped('the server is stopping'));
    await Promise.allSettled(running.values());
  });
  app.register((scope, _options, done) => {
    // Any content type is accepted, and the body is read as a stream.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    const routeOptions = {
      onRequest: access.authorize('intake:write'),
      config: { bucket: 'key' as const },
      bodyLimit: Number.MAX_SAFE_INTEGER,
      schema: DOCUMENTED,
    };
    scope.post(RECORDS_PATH, routeOptions, async (request, reply) => {
      const options = parseRequestQuery(toPlainQuery(request.query), access);
      if (Number(request.headers['content-length'] ?? 0) > access.recordsBytesMax) {
        throw new ServiceError('bad_request', tooLarge(access.recordsBytesMax));
      }
      // The body arrives as fast as the rows are stored.
      allowLongBody(request.raw);
      reply.hijack();
      const stream = new ImportStream(request.raw, reply.raw, access);
      const importer = access.importerOf(request);
      const work = stream.run(context, { ...options, importer });
      running.set(stream, work);
      await work.finally(() => running.delete(stream));
    });
    done();
  });
}

const DOCUMENTED = {
  operationId: 'importRecords',
  summary: 'Import records',
  description: `The body is newline-delimited JSON, or CSV with a column map, of at most 64 MiB. The response is a stream of JSON events, one on each line: \`refused\` with the line and the reason of each rejected record, \`conflict\` with the line of each sale that was already stored with other facts, \`progress\` after each batch, and at the end \`done\` with the counts, or \`error\`. Status 200 means only that the import has begun. Scope \`intake:write\`. Products can be imported only with a key of their shop.\n\n${BODY_EXAMPLE_TEXT}`,
  tags: ['Records'],
  body: IMPORT_BODY,
  querystring: Type.Object({
    format: Type.Optional(
      Type.String({ enum: ['ndjson', 'csv'], default: 'ndjson', description: 'The format of the body.' }),
    ),
    dryRun: Type.Optional(
      Type.String({
        enum: ['true', 'false'],
        default: 'false',
        description:
          'If `true`, every batch is rolled back after it was stored, and the response reports what would have been stored.',
      }),
    ),
    replace: Type.Optional(
      Type.String({
        enum: ['true', 'false'],
        default: 'false',
        description: 'If `true`, a sale replaces a stored sale with the same identity but different facts.',
      }),
    ),
    createCollections: Type.Optional(
      Type.String({
        enum: ['true', 'false'],
        default: 'false',
        description:
          'If `true`, and a record names a collection without a collection record, the import creates the collection record. The name of the new collection is its address.',
      }),
    ),
    completeUntil: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Until when the sales of each collection are complete. The figures of 24 hours and of seven days are computed from them until two hours after this time. Default: the time of the newest sale of the collection.',
      }),
    ),
    file: Type.Optional(
      Type.String({ description: 'The name of the file. The list of imports shows it to the operator.' }),
    ),
    map: Type.Optional(
      Type.String({
        description:
          'The column map as JSON. Required for CSV. With `ndjson` and a column map, each line is an object whose members are the columns.',
      }),
    ),
  }),
  response: intakeResponses(200, IMPORT_RESPONSE),
};

/**
 * Replaces each list of values by its only value. The public server parses each parameter as a list. Throws `bad_request` unless each parameter
 * has exactly one value, in valid UTF-8.
 */
function toPlainQuery(query: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query as Record<string, unknown>).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      if (value.length !== 1 || value[0] === null) {
        throw new ServiceError('bad_request', `${name}: must be given once, as valid UTF-8`);
      }
      return [name, value[0] as string];
    }),
  );
}

type ImportAccess = Pick<IntakeAccess, 'recordsBytesMax' | 'respondsDuringBody' | 'describeFailure'>;

/** `omitted`: how many `refused` and `conflict` events the response leaves out. */
type SentEvent = ResponseEvent | { event: 'omitted'; count: number };

/** One import over HTTP. It reads records from the request's body and writes events to the response. */
class ImportStream {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #access: ImportAccess;
  readonly #controller = new AbortController();
  #hasBegun = false;
  readonly #waiting: string[] = [];
  #waitingCharacters = 0;
  #omitted = 0;

  constructor(request: IncomingMessage, response: ServerResponse, access: ImportAccess) {
    this.#request = request;
    this.#response = response;
    this.#access = access;
  }

  /** Stops the import after its current batch. The response reports the reason. */
  abort(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** Resolves when the response has ended. */
  async run(context: ImportContext, options: RequestOptions & { importer: Importer }): Promise<void> {
    const onDisconnect = () => this.abort(new ImportStopped('the client closed the connection'));
    this.#response.once('close', onDisconnect).on('error', onDisconnect);
    this.#request.on('error', onDisconnect);
    if (this.#access.respondsDuringBody) await this.#begin();
    try {
      await this.#import(context, options);
    } finally {
      this.#response.off('close', onDisconnect);
      await this.#end();
    }
  }

  async #import(context: ImportContext, options: RequestOptions & { importer: Importer }): Promise<void> {
    const onEvent = (event: ImportEvent) => this.#report(event);
    try {
      const body = limitSize(this.#body(), this.#access.recordsBytesMax);
      const summary = await importRecords(context, body, { ...options, signal: this.#controller.signal, onEvent });
      await this.#send({ event: 'done', ...summary });
    } catch (error) {
      if (!(error instanceof ImportFailure)) throw error;
      const { signal } = this.#controller;
      const { summary } = error;
      const reason = this.#access.describeFailure(signal.aborted ? signal.reason : error.cause);
      await this.#send({ event: 'error', message: describeStop(summary, reason), reason, summary });
    }
  }

  /** Sends an event of the import. Before the response begins, rejected records wait, and the progress is left out. */
  async #report(event: ImportEvent): Promise<void> {
    if (this.#hasBegun || this.#request.readableEnded) return this.#send(event);
    if (event.event === 'progress') return;
    const line = toLine(event);
    if (this.#waitingCharacters + line.length > WAITING_CHARACTERS_MAX) this.#omitted += 1;
    else {
      this.#waiting.push(line);
      this.#waitingCharacters += line.length;
    }
  }

  /**
   * Yields the chunks of the request's body. Throws ImportStopped after the last chunk if a trailer says that the client has stopped the import.
   * An import that ends early does not destroy the request, because the socket of the request still carries the response.
   */
  async *#body(): AsyncGenerator<Uint8Array> {
    yield* { [Symbol.asyncIterator]: () => this.#request.iterator({ destroyOnReturn: false }) };
    const stopped = this.#request.trailers[STOPPED_TRAILER];
    if (typeof stopped === 'string') throw new ImportStopped(decodeStopReason(stopped));
  }

  /** Begins the response, with the events that waited. */
  async #begin(): Promise<void> {
    this.#hasBegun = true;
    this.#response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    this.#response.flushHeaders();
    const lines = this.#waiting.splice(0);
    if (this.#omitted > 0) lines.push(toLine({ event: 'omitted', count: this.#omitted }));
    if (lines.length > 0) await this.#write(lines.join(''));
  }

  /** Sends one event. Begins the response if it has not begun. */
  async #send(event: SentEvent): Promise<void> {
    if (!this.#hasBegun) await this.#begin();
    await this.#write(toLine(event));
  }

  /** Writes to the response. If the write buffer is full, waits until the client reads. If this takes READ_TIMEOUT_MS, aborts the import. */
  async #write(text: string): Promise<void> {
    if (this.#response.destroyed || this.#response.write(text)) return;
    if (await happensWithin(READ_TIMEOUT_MS, this.#response, ['drain', 'close', 'error'])) return;
    this.abort(new ImportStopped('the client does not read the response'));
    this.#response.destroy();
  }

  /**
   * Reads the rest of the request, then ends the response. If the socket were closed with unread bytes, the events that were sent could be lost.
   */
  async #end(): Promise<void> {
    if (!this.#request.readableEnded && !this.#request.destroyed) {
      const ended = happensWithin(DRAIN_TIMEOUT_MS, this.#request, ['end', 'close']);
      // An import that stopped during a read leaves a listener that would keep the stream paused.
      this.#request.removeAllListeners('readable').on('data', this.#cutOff()).resume();
      await ended;
    }
    this.#response.end();
  }

  #cutOff(): (chunk: Uint8Array) => void {
    let size = 0;
    return (chunk) => {
      size += chunk.byteLength;
      if (size > DRAIN_BYTES_MAX) this.#request.destroy();
    };
  }
}

const toLine = (event: SentEvent): string => `${JSON.stringify(event)}\n`;

const tooLarge = (bytesMax: number) => `the body is larger than ${bytesMax} bytes`;

function decodeStopReason(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return 'the client stopped the import';
  }
}

async function* limitSize(chunks: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > bytesMax) throw new ImportStopped(tooLarge(bytesMax));
    yield chunk;
  }
}

/** Resolves with true if one of the events happens within `limitMs`, otherwise with false. */
function happensWithin(limitMs: number, emitter: EventEmitter, events: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (happened: boolean) => {
      clearTimeout(timer);
      for (const event of events) emitter.off(event, onEvent);
      resolve(happened);
    };
    const onEvent = () => finish(true);
    const timer = setTimeout(() => finish(false), limitMs);
    for (const event of events) emitter.once(event, onEvent);
  });
}
