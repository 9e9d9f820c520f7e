// Follows the change stream: yields activity as it happens, and connects again whenever the connection is lost.

import type { ServerSentEvent, StreamState } from './event-stream.ts';
import { readEvents } from './event-stream.ts';
import { toSearch } from './calls.ts';
import type { Activity } from './generated/explore.ts';
import type { Amounts } from './json.ts';
import { parseJson } from './json.ts';
import { MercatError } from './mercat-error.ts';
import type { Transport } from './transport.ts';
import { wait } from './wait.ts';

export type ActivityKind = Activity['kind'];

/** An activity as the stream sends it: every event of the stream has an offset. */
export type StreamEvent = Activity & { offset: string };

export type FollowOptions = {
  /**
   * Begins after this offset, for example the `meta.offset` of a response. With `'0'`, begins with the oldest activity that the service keeps.
   * Default: begins now.
   */
  from?: string;
  /** Only activity of these collections: canonical ids, slugs or addresses, at most 100. Activity that concerns no single collection is yielded as well. */
  collections?: readonly string[];
  /** Only activity of these kinds. Include `reorg`, because events of this kind take other events back. */
  kinds?: readonly ActivityKind[];
  /** When the signal aborts, the stream ends and throws the reason of the signal. */
  signal?: AbortSignal;
  /**
   * A connection on which nothing arrives for this time counts as lost. The service sends something every 15 seconds. Default: 45 seconds.
   */
  silenceMaxMs?: number;
  /** Called when a connection is open, and when it is lost. After a loss, the stream connects again automatically. */
  onConnection?: (state: 'open' | 'lost') => void;
  /**
   * Called with the offset up to which all activity was yielded and taken: after each activity, and where the filter has left some out. A consumer that
   * stores this offset and continues from it misses nothing, and does not read again what its filter leaves out.
   */
  onPosition?: (offset: string) => void;
};

const STREAM_PATH = '/explore/v1/stream';
const SILENCE_MAX_MS = 45_000;
/** A longer `Retry-After` is shortened to this time, because nothing else limits the wait. */
const RETRY_AFTER_MAX_MS = 300_000;
const GONE = 410;
const TOO_MANY_REQUESTS = 429;

/**
 * Yields every event after the offset once, in the order of the service. Connects again after each failure that may be temporary. Throws a
 * MercatError with the code `offset_expired` if the service no longer has the next event, or if its database was restored.
 */
export async function* follow(
  transport: Transport,
  options: FollowOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const signal = options.signal ?? new AbortController().signal;
  const state: StreamState = { lastEventId: null, retryMs: null };
  for (let failures = 0; ; failures += 1) {
    let retryAfterMs: number | null = null;
    try {
      for await (const { data } of connect(transport, { ...options, signal }, state)) {
        failures = 0;
        yield parseEvent(data, transport.amounts);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof MercatError) || !canPass(error)) throw toClearError(error);
      ({ retryAfterMs } = error);
    }
    options.onConnection?.('lost');
    const atLeastMs = retryAfterMs ?? state.retryMs;
    await wait(transport.toWaitMs(failures, atLeastMs && Math.min(atLeastMs, RETRY_AFTER_MAX_MS)), signal);
  }
}

/** Yields the events of one connection. */
async function* connect(
  transport: Transport,
  options: FollowOptions & { signal: AbortSignal },
  state: StreamState,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const { from, collections, kinds, signal, silenceMaxMs = SILENCE_MAX_MS } = options;
  signal.throwIfAborted();
  const connection = new AbortController();
  const onAbort = () => connection.abort(signal.reason);
  signal.addEventListener('abort', onAbort);
  const lose = () => connection.abort(new MercatError('network_error', 'The stream has become silent'));
  let silence = setTimeout(lose, silenceMaxMs);
  const onBytes = () => {
    clearTimeout(silence);
    silence = setTimeout(lose, silenceMaxMs);
  };
  const { lastEventId } = state;
  const search = toSearch([
    ['from', lastEventId === null ? from : null],
    ['collections', collections?.join(',')],
    ['kinds', kinds?.join(',')],
  ]);
  try {
    const headers = { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) };
    const response = await transport.open({ method: 'GET', target: STREAM_PATH + search, headers }, connection.signal);
    const type = response.headers.get('content-type') ?? '';
    if (!response.body || !type.startsWith('text/event-stream'))
      throw new MercatError('invalid_response', 'The response is not an event stream', { status: response.status });
    options.onConnection?.('open');
    yield* readEvents(response.body, state, { onBytes, onPosition: options.onPosition });
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', onAbort);
    connection.abort();
  }
}

function parseEvent(data: string, amounts: Amounts): StreamEvent {
  try {
    return parseJson(data, amounts) as StreamEvent;
  } catch (cause) {
    throw new MercatError('invalid_response', 'An event of the stream is not JSON', { cause });
  }
}

/** Whether the failure may be temporary: no response, too many requests, or a failure of the service or of a proxy. */
function canPass({ code, status }: MercatError): boolean {
  return status === null ? code === 'network_error' : status === TOO_MANY_REQUESTS || status >= 500;
}

function toClearError(error: unknown): unknown {
  if (!(error instanceof MercatError) || error.status !== GONE) return error;
  const message =
    'The service no longer keeps the events after this offset, or was restored since. Take a new snapshot, and follow from its offset.';
  return new MercatError('offset_expired', message, { status: GONE, requestId: error.requestId, cause: error });
}
