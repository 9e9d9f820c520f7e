// Reads the operator's own feed: records in the public format over HTTP, one on each line. The feed is read as a stream, to bound the
// memory. Its first and last lines may declare that it is a complete list.

import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../../platform/core/clock.ts';
import { JsonNumber, parseJsonText } from '../../../platform/core/json-text.ts';
import { ExchangeFailure, openExchange } from '../../../platform/resilience/http-exchange.ts';
import type { ParsedPage, SourceRecord } from '../response-rows.ts';
import { emptyPage } from '../response-rows.ts';
import type { UpstreamStatus } from '../../../platform/tasks/upstream-status.ts';
import type { UpstreamPace, UpstreamReason } from '../upstream-client.ts';
import { toReason, UpstreamFailure } from '../upstream-client.ts';
import type { FeedAccess } from './settings.ts';
import { toTokenHeaders } from './settings.ts';

const SNAPSHOT_KINDS = ['listing', 'bid'] as const;
type SnapshotKind = (typeof SNAPSHOT_KINDS)[number];
/** The feed has all listings, all bids or both with this `source`. `source` is null for this service's own listings. */
export type FeedSnapshot = { kinds: readonly SnapshotKind[]; source: string | null };

export type FeedEnd = {
  /** False when the feed has not changed since the response with the given ETag. */
  changed: boolean;
  etag: string | null;
  /** Not null when the feed declared that it is a complete list. */
  snapshot: FeedSnapshot | null;
  /** Why the feed is not the complete list that its first line declares. Null if there is no such problem. */
  problem: string | null;
};

export type FeedOptions = FeedAccess & { clock: Clock } & Pick<UpstreamPace, 'timeoutMs' | 'stallMs'>;

const TIMEOUT_MS = 90_000;
/** A read that receives nothing for this time is aborted. Without this limit, a feed that hung once would block the reads for TIMEOUT_MS. */
const STALL_MS = 15_000;
const BYTES_MAX = 256 * 2 ** 20;
const LINE_BYTES_MAX = 256 * 1024;
const LINES_MAX = 1_000_000;
const PAGE_LINES = 500;
const ETAG_MAX = 1_000;
const NAME = 'feed';

export class FeedClient {
  readonly #options: FeedOptions;
  #lastSuccessAt: number | null = null;
  #lastFailureAt: number | null = null;
  #lastFailure: UpstreamReason | null = null;
  #failures = 0;
  #requests = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /**
   * Yields the records of the feed, up to 500 at a time, or no records if the feed has not changed since the response with `etag`. Throws
   * UpstreamFailure. The caller may store the records that were yielded before the failure, but they are not a complete list.
   */
  async *read({ etag, signal }: { etag: string | null; signal?: AbortSignal }): AsyncGenerator<ParsedPage, FeedEnd> {
    try {
      const end = yield* this.#request(etag, signal);
      this.#lastSuccessAt = this.#options.clock();
      this.#failures = 0;
      return end;
    } catch (error) {
      throw this.#recordFailure(error);
    }
  }

  /** The client has no breaker, because the task requests the feed only once a period. */
  status(): UpstreamStatus {
    return {
      name: NAME,
      breaker: 'closed',
      restsUntil: null,
      failures: this.#failures,
      lastSuccessAt: this.#lastSuccessAt,
      lastFailureAt: this.#lastFailureAt,
      lastFailure: this.#lastFailure,
      budget: null,
      requests: this.#requests,
      retries: 0,
      refused: 0,
    };
  }

  async *#request(etag: string | null, signal: AbortSignal | undefined): AsyncGenerator<ParsedPage, FeedEnd> {
    const { url, timeoutMs = TIMEOUT_MS, stallMs = STALL_MS } = this.#options;
    this.#requests += 1;
    const { status, headers, chunks } = await openExchange(url, {
      trace: { peer: NAME },
      headers: {
        accept: 'application/x-ndjson',
        ...toTokenHeaders(this.#options),
        ...(etag !== null && { 'if-none-match': etag }),
      },
      timeoutMs,
      stallMs,
      bytesMax: BYTES_MAX,
      ...(signal && { signal }),
    });
    if (status >= 200 && status < 300) return { ...(yield* readRecords(chunks)), etag: readEtag(headers) };
    await chunks.return(undefined);
    if (status === 304 && etag !== null) return { changed: false, etag, snapshot: null, problem: null };
    throw new UpstreamFailure(NAME, toReason(status), { status });
  }

  #recordFailure(error: unknown): unknown {
    if (!(error instanceof ExchangeFailure || error instanceof UpstreamFailure)) return error;
    const failure =
      error instanceof ExchangeFailure ? new UpstreamFailure(NAME, error.reason, { cause: error }) : error;
    if (failure.reason === 'aborted') return failure;
    this.#lastFailureAt = this.#options.clock();
    this.#lastFailure = failure.reason;
    this.#failures += 1;
    return failure;
  }
}

async function* readRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ParsedPage, Omit<FeedEnd, 'etag'>> {
  let page = emptyPage();
  let opening: FeedSnapshot | null = null;
  let ended = false;
  let lines = 0;
  for await (const line of splitLines(chunks)) {
    lines += 1;
    if (lines > LINES_MAX) throw new UpstreamFailure(NAME, 'too-large');
    const parsed = 'text' in line ? parseLine(line.text) : line;
    // Only the last line of the feed can end the list.
    ended = false;
    if ('rejected' in parsed) page.rejected.push(parsed.rejected);
    else if ('opening' in parsed && lines === 1) opening = parsed.opening;
    else if ('ending' in parsed) ended = true;
    else if ('record' in parsed) page.records.push(parsed.record);
    else page.rejected.push('a line after the first declares a snapshot');
    if (page.records.length + page.rejected.length < PAGE_LINES) continue;
    yield page;
    page = emptyPage();
  }
  if (page.records.length + page.rejected.length > 0) yield page;
  const problem = opening !== null && !ended ? 'the snapshot has no last line: the feed was cut off' : null;
  return { changed: true, snapshot: ended ? opening : null, problem };
}

type ParsedLine = { opening: FeedSnapshot } | { ending: true } | { record: SourceRecord } | { rejected: string };

function parseLine(line: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { rejected: 'a line is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { rejected: 'a line is not a JSON object' };
  const fields = value as Record<string, unknown>;
  if (fields['kind'] === 'feed') return parseFeedLine(fields);
  // A price is kept as it was written, because a double would round it.
  if (typeof fields['price'] === 'number') {
    const literal = (parseJsonText(line) as Record<string, unknown>)['price'];
    return {
      record: { ...fields, kind: String(fields['kind']), price: literal instanceof JsonNumber && literal.text },
    };
  }
  return { record: fields as SourceRecord };
}

/** The first line is `{"kind":"feed","snapshot":["listing","bid"],"source":"…"}`, the last line `{"kind":"feed","end":true}`. */
function parseFeedLine(fields: Record<string, unknown>): ParsedLine {
  const { kind: _kind, snapshot, source = null, end, ...rest } = fields;
  if (Object.keys(rest).length > 0) return { rejected: 'a feed line has an unknown field' };
  if (end === true && snapshot === undefined && source === null) return { ending: true };
  const kinds = readSnapshotKinds(snapshot);
  if (kinds === null || end !== undefined) {
    return { rejected: 'a feed line declares neither a snapshot of listings or bids nor the end' };
  }
  if (source !== null && typeof source !== 'string') return { rejected: 'the source of a feed is not text' };
  if (source === null && kinds.includes('bid')) return { rejected: 'a snapshot of bids has no source' };
  return { opening: { kinds, source } };
}

/** Null unless the value is a list of different kinds. */
function readSnapshotKinds(value: unknown): SnapshotKind[] | null {
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size < value.length) return null;
  const kinds = value.flatMap((one: unknown) => SNAPSHOT_KINDS.find((kind) => kind === one) ?? []);
  return kinds.length === value.length ? kinds : null;
}

type Line = { text: string } | { rejected: string };

/** Yields the lines without their line ends. Blank lines are skipped. The bytes of a line that is too long are dropped. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let held: Uint8Array[] = [];
  let size = 0;
  const takeLine = (): Line | null => {
    const bytes = Buffer.concat(held);
    const isTooLong = size > LINE_BYTES_MAX;
    held = [];
    size = 0;
    if (isTooLong) return { rejected: `a line is longer than ${LINE_BYTES_MAX} bytes` };
    if (!isUtf8(bytes)) return { rejected: 'a line is not UTF-8' };
    const text = bytes.toString('utf8').trim();
    return text === '' ? null : { text };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      hold(chunk.subarray(from, at));
      from = at + 1;
      const line = takeLine();
      if (line) yield line;
    }
    hold(chunk.subarray(from));
  }
  const last = takeLine();
  if (last) yield last;

  function hold(part: Uint8Array): void {
    size += part.length;
    if (size > LINE_BYTES_MAX) held = [];
    else held.push(part);
  }
}

const LF = 0x0a;

function readEtag(headers: Headers): string | null {
  const etag = headers.get('etag');
  return etag !== null && etag.length <= ETAG_MAX ? etag : null;
}
