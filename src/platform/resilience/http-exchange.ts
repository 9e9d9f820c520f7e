// One HTTP exchange with an upstream: a deadline for the complete exchange, and a limit on the size of the decompressed body. A redirect
// (every 3xx except 304) is an ExchangeFailure. All other statuses are returned to the caller. Nothing is retried.

import type { TracedOperation } from '../core/traced.ts';
import { traced } from '../core/traced.ts';

export type ExchangeOptions = {
  method?: 'GET' | 'POST';
  /** What traces show instead of the URL, which may hold a key. If absent, traces do not show the exchange. */
  trace?: ExchangeTrace;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** The deadline of the complete exchange, body included. */
  timeoutMs: number;
  /** The longest wait for the head, or for one chunk of the body. Detects a stall early if `timeoutMs` is long. Default: no limit. */
  stallMs?: number;
  /** The largest body accepted, in bytes after decompression. */
  bytesMax: number;
  signal?: AbortSignal;
};

/** `peer`: the name of the upstream. `operation`: by default the HTTP method. Must contain no ids, because traces are grouped by operation. */
export type ExchangeTrace = { peer: string; operation?: string };

export type Exchange = { status: number; headers: Headers; body: Buffer };

/** Why there is no complete response. The message names no URL, because a URL may hold a key. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure';
  readonly reason: 'timeout' | 'too-large' | 'unreachable' | 'redirected' | 'aborted';

  constructor(reason: ExchangeFailure['reason'], options?: { cause?: unknown }) {
    super(MESSAGES[reason], options);
    this.reason = reason;
  }
}

const MESSAGES = {
  timeout: 'no complete response in time',
  'too-large': 'the response is larger than allowed',
  unreachable: 'the connection failed',
  redirected: 'the response is a redirect',
  aborted: 'aborted by the caller',
};

/** Throws ExchangeFailure. */
export function exchange(url: string, options: ExchangeOptions): Promise<Exchange> {
  return tracedExchange(options, async () => {
    const { status, headers, chunks } = await open(url, options);
    const body = await Array.fromAsync(chunks);
    return { status, headers, body: Buffer.concat(body) };
  });
}

/** A response whose body has not been read. Leaving the loop over `chunks` early closes the connection. */
export type OpenExchange = { status: number; headers: Headers; chunks: AsyncGenerator<Uint8Array> };

/** This function and the reading of `chunks` throw ExchangeFailure. Traces show the time until the head of the response. */
export function openExchange(url: string, options: ExchangeOptions): Promise<OpenExchange> {
  return tracedExchange(options, () => open(url, options));
}

function tracedExchange<R extends { status: number }>(
  { method = 'GET', trace }: ExchangeOptions,
  work: () => Promise<R>,
): Promise<R> {
  if (!trace) return work();
  const describe = () => ({
    kind: 'client' as const,
    name: `${trace.operation ?? method} ${trace.peer}`,
    needsParent: false,
    attributes: { 'http.request.method': method, 'server.service.name': trace.peer },
  });
  return traced(describe, async (operation) => {
    const response = await work();
    if (operation) noteStatus(operation, response.status);
    return response;
  });
}

export function noteStatus(operation: TracedOperation, status: number): void {
  operation.attributes['http.response.status_code'] = status;
  if (status >= 400) operation.failure = String(status);
}

async function open(url: string, options: ExchangeOptions): Promise<OpenExchange> {
  const { method = 'GET', headers = {}, timeoutMs, stallMs, bytesMax, signal } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const watch = stallMs === undefined ? null : createStallWatch(stallMs);
  const timeLimit = watch ? AbortSignal.any([deadline, watch.signal]) : deadline;
  const toFailure = (error: unknown): ExchangeFailure => {
    if (error instanceof ExchangeFailure) return error;
    const reason = signal?.aborted ? 'aborted' : timeLimit.aborted ? 'timeout' : 'unreachable';
    return new ExchangeFailure(reason, { cause: error });
  };
  try {
    const pending = fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([timeLimit, signal]) : timeLimit,
      ...(options.body !== undefined && { body: options.body }),
    });
    const response = await (watch?.waitFor(pending) ?? pending);
    if (response.status >= 300 && response.status < 400 && response.status !== 304) {
      await response.body?.cancel();
      throw new ExchangeFailure('redirected');
    }
    const body = response.body ?? [];
    const chunks = readChunks(watch ? watchEach(body, watch) : body, bytesMax, toFailure);
    return { status: response.status, headers: response.headers, chunks };
  } catch (error) {
    throw toFailure(error);
  }
}

type Chunks = AsyncIterable<Uint8Array> | readonly Uint8Array[];

type StallWatch = { signal: AbortSignal; waitFor<T>(promise: Promise<T>): Promise<T> };

/**
 * Aborts its signal when a single wait (for the head, or for one chunk) takes longer than `stallMs`. The time in which the caller processes
 * a chunk does not count.
 */
function createStallWatch(stallMs: number): StallWatch {
  const stalled = new AbortController();
  return {
    signal: stalled.signal,
    waitFor: async (promise) => {
      const timer = setTimeout(() => stalled.abort(), stallMs);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function* watchEach(body: Chunks, watch: StallWatch): AsyncGenerator<Uint8Array> {
  if (!(Symbol.asyncIterator in body)) return yield* body;
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await watch.waitFor(iterator.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // If the caller stops early, this cancels the stream and closes the connection.
    await iterator.return?.();
  }
}

async function* readChunks(
  chunks: Chunks,
  bytesMax: number,
  toFailure: (error: unknown) => ExchangeFailure,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    // If the caller stops early, or the body is too large, the end of this loop cancels the stream and closes the connection.
    for await (const chunk of chunks) {
      size += chunk.byteLength;
      if (size > bytesMax) throw new ExchangeFailure('too-large');
      yield chunk;
    }
  } catch (error) {
    throw toFailure(error);
  }
}
