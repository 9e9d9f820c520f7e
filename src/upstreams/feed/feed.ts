// An operator's own feed: records in the public format over HTTP, one a line, as they come in, so that memory is bounded
// however long it is. A feed says by its first and last line when it is a whole snapshot. It never judges a record.

import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../core/clock.ts';
import { JsonNumber, parseJsonText } from '../../core/json-text.ts';
import { ExchangeFailure, openExchange } from '../../resilience/exchange.ts';
import type { ParsedPage, SourceRecord } from '../rows.ts';
import type { UpstreamStatus } from '../../tasks/upstream-status.ts';
import type { UpstreamReason } from '../upstream-client.ts';
import { toReason, UpstreamFailure } from '../upstream-client.ts';

export type Feed = {
  /**
   * The records of the feed, up to 500 at a time; none when it has not changed since the answer with `etag`. Throws
   * UpstreamFailure: what came before it may be kept, and is no snapshot.
   */
  read(options: { etag: string | null; signal?: AbortSignal }): AsyncGenerator<ParsedPage, FeedEnd>;
  status(): UpstreamStatus;
};

export type FeedEnd = {
  changed: boolean;
  /** Names this state of the feed, where it tells. */
  etag: string | null;
  /** Set when the feed held all listings of a source; `source` is null for those of the service itself. */
  snapshot: { source: string | null } | null;
  problem: string | null;
};

export type FeedOptions = { url: string; token: string | null; clock: Clock; timeoutMs?: number; stallMs?: number };

const TIMEOUT_MS = 90_000;
/** A feed that falls silent is given up long before, so that its return is seen within a minute. */
const STALL_MS = 15_000;
const BYTES_MAX = 256 * 2 ** 20;
const LINE_BYTES_MAX = 256 * 1024;
const LINES_MAX = 1_000_000;
const HARVEST_LINES = 500;
const ETAG_MAX = 1_000;
const NAME = 'feed';

export function createFeed(options: FeedOptions): Feed {
  const { url, token, clock, timeoutMs = TIMEOUT_MS, stallMs = STALL_MS } = options;
  const last = { successAt: null as number | null, failureAt: null as number | null, failures: 0, requests: 0 };
  let lastFailure: UpstreamReason | null = null;

  const toFailure = (error: unknown): unknown => {
    if (!(error instanceof ExchangeFailure || error instanceof UpstreamFailure)) return error;
    const failure =
      error instanceof ExchangeFailure ? new UpstreamFailure(NAME, error.reason, { cause: error }) : error;
    if (failure.reason === 'aborted') return failure;
    last.failureAt = clock();
    last.failures += 1;
    lastFailure = failure.reason;
    return failure;
  };

  async function* read({ etag, signal }: { etag: string | null; signal?: AbortSignal }) {
    try {
      last.requests += 1;
      const { status, headers, chunks } = await openExchange(url, {
        headers: {
          accept: 'application/x-ndjson',
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(etag !== null && { 'if-none-match': etag }),
        },
        timeoutMs,
        stallMs,
        bytesMax: BYTES_MAX,
        ...(signal && { signal }),
      });
      let end: FeedEnd = { changed: false, etag, snapshot: null, problem: null };
      if (status < 200 || status >= 300) await chunks.return(undefined);
      if (status >= 200 && status < 300) end = { ...(yield* readRecords(chunks)), etag: readEtag(headers) };
      else if (status !== 304 || etag === null) throw new UpstreamFailure(NAME, toReason(status), { status });
      last.successAt = clock();
      last.failures = 0;
      return end;
    } catch (error) {
      throw toFailure(error);
    }
  }

  return {
    read,
    status: () => ({
      name: NAME,
      // It is asked once a period: that is rest enough.
      breaker: 'closed',
      restsUntil: null,
      failures: last.failures,
      lastSuccessAt: last.successAt,
      lastFailureAt: last.failureAt,
      lastFailure,
      budget: null,
      requests: last.requests,
      retries: 0,
      refused: 0,
    }),
  };
}

async function* readRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ParsedPage, Omit<FeedEnd, 'etag'>> {
  let harvest: ParsedPage = { records: [], refused: [], skipped: 0 };
  let opening: { source: string | null } | null = null;
  let ended = false;
  let lines = 0;
  for await (const line of splitLines(chunks)) {
    lines += 1;
    if (lines > LINES_MAX) throw new UpstreamFailure(NAME, 'too-large');
    const said = 'text' in line ? parseLine(line.text) : line.refused;
    // A line after the last one: it was not the last, and there may be more to come.
    ended = false;
    if (typeof said === 'string') harvest.refused.push(said);
    else if ('opening' in said && lines === 1) opening = said.opening;
    else if ('ending' in said) ended = true;
    else if ('record' in said) harvest.records.push(said.record);
    else harvest.refused.push('a feed says what it is in its first line');
    if (harvest.records.length + harvest.refused.length < HARVEST_LINES) continue;
    yield harvest;
    harvest = { records: [], refused: [], skipped: 0 };
  }
  if (harvest.records.length + harvest.refused.length > 0) yield harvest;
  const problem = opening !== null && !ended ? 'the feed is a snapshot without its last line: it was cut off' : null;
  return { changed: true, snapshot: ended ? opening : null, problem };
}

type Said = { opening: { source: string | null } } | { ending: true } | { record: SourceRecord } | string;

/** What a line says; text is why it says nothing. */
function parseLine(line: string): Said {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'a line is not JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a line is not a JSON object';
  const fields = value as Record<string, unknown>;
  if (fields['kind'] === 'feed') return parseFeedLine(fields);
  // A price is kept as it was written.
  if (typeof fields['price'] === 'number') {
    const literal = (parseJsonText(line) as Record<string, unknown>)['price'];
    return {
      record: { ...fields, kind: String(fields['kind']), price: literal instanceof JsonNumber && literal.text },
    };
  }
  return { record: fields as SourceRecord };
}

/** `{"kind":"feed","snapshot":["listing"],"source":"…"}` in front, `{"kind":"feed","end":true}` behind. */
function parseFeedLine(fields: Record<string, unknown>): Said {
  const { kind: _kind, snapshot, source = null, end, ...rest } = fields;
  if (Object.keys(rest).length > 0) return 'a feed line has a field that is not known';
  if (end === true && snapshot === undefined && source === null) return { ending: true };
  const isListings = Array.isArray(snapshot) && snapshot.length === 1 && snapshot[0] === 'listing';
  if (!isListings || end !== undefined) return 'a feed line says neither a snapshot of listings nor the end';
  return source === null || typeof source === 'string' ? { opening: { source } } : 'the source of a feed is no text';
}

type Line = { text: string } | { refused: string };

/** Lines without their ends, blank ones left out. Of one that is too long no more than that is held. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let held: Uint8Array[] = [];
  let size = 0;
  const take = (): Line | null => {
    const bytes = Buffer.concat(held);
    const isTooLong = size > LINE_BYTES_MAX;
    held = [];
    size = 0;
    if (isTooLong) return { refused: `a line is longer than ${LINE_BYTES_MAX} bytes` };
    if (!isUtf8(bytes)) return { refused: 'a line is not UTF-8' };
    const text = bytes.toString('utf8').trim();
    return text === '' ? null : { text };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      hold(chunk.subarray(from, at));
      from = at + 1;
      const line = take();
      if (line) yield line;
    }
    hold(chunk.subarray(from));
  }
  const last = take();
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
