// One HTTP exchange with an upstream, bounded in every way: one deadline over all of it, body included, a limit on the size
// of the answer after decompression, and no redirects. It never retries and never judges a status.

export type ExchangeOptions = {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
  /** How long the head, or the next bytes, may let us wait, where an answer as a whole may take much longer. */
  stallMs?: number;
  /** Bytes of the decompressed answer. */
  bytesMax: number;
  signal?: AbortSignal;
};

export type Exchange = { status: number; headers: Headers; body: Buffer };

/** What went wrong before there was an answer. Its message names no address: those may hold keys. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure';
  readonly reason: 'timeout' | 'too-large' | 'unreachable' | 'redirected' | 'aborted';

  constructor(reason: ExchangeFailure['reason'], options?: { cause?: unknown }) {
    super(MESSAGES[reason], options);
    this.reason = reason;
  }
}

const MESSAGES = {
  timeout: 'no whole answer in time',
  'too-large': 'the answer is larger than allowed',
  unreachable: 'the connection failed',
  redirected: 'the answer is a redirect',
  aborted: 'given up',
};

/** Sends one request and reads the whole answer. Throws ExchangeFailure. */
export async function exchange(url: string, options: ExchangeOptions): Promise<Exchange> {
  const { status, headers, chunks } = await openExchange(url, options);
  const body = await Array.fromAsync(chunks);
  return { status, headers, body: Buffer.concat(body) };
}

/** An answer whose body is still to be read: all of it, or until the loop over it is left. */
export type OpenExchange = { status: number; headers: Headers; chunks: AsyncGenerator<Uint8Array> };

/** Sends one request and reads the head of the answer. It, and the reading of the chunks, throw ExchangeFailure. */
export async function openExchange(url: string, options: ExchangeOptions): Promise<OpenExchange> {
  const { method = 'GET', headers = {}, timeoutMs, stallMs, bytesMax, signal } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const watch = stallMs === undefined ? null : createStallWatch(stallMs);
  const late = watch ? AbortSignal.any([deadline, watch.signal]) : deadline;
  const toFailure = (error: unknown): ExchangeFailure => {
    if (error instanceof ExchangeFailure) return error;
    const reason = signal?.aborted ? 'aborted' : late.aborted ? 'timeout' : 'unreachable';
    return new ExchangeFailure(reason, { cause: error });
  };
  try {
    const answering = fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([late, signal]) : late,
      ...(options.body !== undefined && { body: options.body }),
    });
    const response = await (watch?.waitFor(answering) ?? answering);
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

/** Its signal aborts when one thing is waited for too long. What happens in between, such as landing what came, is not counted. */
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
    // Leaving the loop early cancels the stream, and with it the connection.
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
    // Leaving the loop early cancels the stream, and with it the connection.
    for await (const chunk of chunks) {
      size += chunk.byteLength;
      if (size > bytesMax) throw new ExchangeFailure('too-large');
      yield chunk;
    }
  } catch (error) {
    throw toFailure(error);
  }
}
