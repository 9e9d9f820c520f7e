// One JSON-RPC endpoint of a chain: asks it, in batches where it takes them, checks that the answers belong to the questions
// and that it serves the chain, and remembers how it does. It never retries, and never lets its URL out: that may be a key.

import type { Chain } from '../../core/chains.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { exchange, ExchangeFailure } from '../../resilience/exchange.ts';
import type { Exchange } from '../../resilience/exchange.ts';
import { readQuantity } from './results.ts';
import { createRangeSize } from './range-size.ts';
import type { RangeSize } from './range-size.ts';
import { lie, RpcFailure } from './rpc-failure.ts';
import { readAnswers } from './rpc-wire.ts';
import type { Call } from './rpc-wire.ts';

export type EndpointState = 'unknown' | 'ready' | 'resting' | 'wrong-chain';

export type EndpointStatus = {
  /** From 0, in the order of configuration. */
  position: number;
  /** Host and port; the rest of the URL may be secret. */
  host: string;
  state: EndpointState;
  /** Its newest block, as last seen. */
  head: number | null;
  /** Blocks behind the newest that any endpoint of the chain showed. */
  lag: number | null;
  /** Since the start. */
  failures: number;
  lastFailure: string | null;
  /** Blocks that it is asked for at once. */
  rangeBlocks: number;
  /** Questions in one request; 1 where it takes no batches. */
  batchSize: number;
};

export type Endpoint = {
  readonly position: number;
  readonly range: RangeSize;
  /** Verifies the chain id, once after each rest. Throws RpcFailure. */
  ready(): Promise<void>;
  /** Answers in the order of the questions. Throws RpcFailure when one of them fails. */
  callAll(calls: readonly Call[]): Promise<unknown[]>;
  /** Counts how an attempt went; repeated failures, and every lie, send it to rest. */
  settle(failure: RpcFailure | null): void;
  /** Milliseconds since the epoch; in the past when it may be asked. */
  restsUntil(): number;
  /** Its newest block, as last seen. */
  head: number | null;
  status(bestHead: number | null): EndpointStatus;
};

export type EndpointOptions = {
  url: string;
  position: number;
  chain: Chain;
  log: Log;
  clock: Clock;
  timeoutMs: number;
  restMs: number;
  signal: AbortSignal;
};

const RESPONSE_BYTES_MAX = 64 * 2 ** 20;
const BATCH_SIZE_START = 50;
/** Requests after which a larger batch is tried again: the refusal may have had another reason. */
const TAKEN_TO_DOUBLE = 200;
/** Requests at a time where single questions are asked in place of a batch. */
const SINGLES_AT_ONCE = 4;
/** Consecutive failures before a rest. */
const FAILURES_MAX = 3;
/** With its jitter, a request that hangs and the follower's own pause, less than a minute: so soon a return is seen. */
const REST_MS_MAX = 20_000;
const REST_JITTER = 0.3;
/** An operator may put a wrong endpoint right. */
const WRONG_CHAIN_REST_MS = 60_000;
const RETRY_AFTER_MS_MAX = 60_000;

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { position, chain, log, clock, restMs } = options;
  const target = toTarget(options.url);
  const range = createRangeSize();
  let batchSize = BATCH_SIZE_START;
  let verified: Promise<void> | null = null;
  let state: EndpointState = 'unknown';
  let batchesTaken = 0;
  let nextId = 1;
  let failures = 0;
  let failuresInRow = 0;
  let rests = 0;
  let restsUntil = 0;
  let lastFailure: string | null = null;

  const send = async (calls: readonly Call[]): Promise<unknown[]> => {
    const firstId = nextId;
    nextId += calls.length;
    const questions = calls.map((call, index) => ({ jsonrpc: '2.0', id: firstId + index, ...call }));
    const body = JSON.stringify(questions.length === 1 ? questions[0] : questions);
    return readAnswers(await post(target, body, options), firstId, calls.length, target.redact);
  };

  /** Halves batches that are not taken, down to single questions; remembers the size unless those fail as well. */
  const callAll = async (calls: readonly Call[]): Promise<unknown[]> => {
    const sizeBefore = batchSize;
    const answers: unknown[] = [];
    while (answers.length < calls.length) {
      const size = batchSize;
      try {
        const left = calls.slice(answers.length);
        if (size === 1) {
          const singles = left.slice(0, SINGLES_AT_ONCE).map(async (call) => send([call]));
          answers.push(...(await Promise.all(singles)).flat());
        } else answers.push(...(await send(left.slice(0, size))));
        batchesTaken += 1;
        if (batchesTaken % TAKEN_TO_DOUBLE === 0) batchSize = Math.min(BATCH_SIZE_START, batchSize * 2);
      } catch (error) {
        const asked = Math.min(size, calls.length - answers.length);
        const smaller = asked > 1 && error instanceof RpcFailure && mayBeTheBatch(error);
        if (!smaller) {
          batchSize = Math.max(batchSize, sizeBefore);
          throw error;
        }
        batchSize = Math.min(batchSize, asked >> 1);
        batchesTaken = 0;
        log.debug('an endpoint did not take a batch', { chain: chain.id, endpoint: position, asked });
      }
    }
    return answers;
  };

  const verify = async () => {
    const [answer] = await callAll([{ method: 'eth_chainId', params: [] }]);
    const chainId = readQuantity(answer, 'the chain id');
    // Without a chain id in the configuration there is nothing to hold it against.
    if (chain.chainId === null || chainId === chain.chainId) {
      if (state === 'wrong-chain')
        log.info('an endpoint serves its chain now', { chain: chain.id, endpoint: position });
      state = 'ready';
      return;
    }
    if (state !== 'wrong-chain')
      log.error('an endpoint serves another chain and is not used', { chain: chain.id, endpoint: position, chainId });
    state = 'wrong-chain';
    throw new RpcFailure('wrong-chain', `${chainId} in place of ${chain.chainId}`);
  };

  const rest = (failure: RpcFailure) => {
    // Several questions may have been under way when it began to fail.
    if (restsUntil > clock()) return;
    const doubledMs = Math.min(REST_MS_MAX, restMs * 2 ** Math.min(rests, 16));
    const ownMs = failure.kind === 'wrong-chain' ? WRONG_CHAIN_REST_MS : doubledMs * (1 + REST_JITTER * Math.random());
    const wishMs = Math.min(RETRY_AFTER_MS_MAX, failure.retryAfterMs ?? 0);
    restsUntil = clock() + Math.max(ownMs, wishMs);
    rests += 1;
    failuresInRow = 0;
    verified = null;
    if (rests === 1) log.warn('an endpoint is given a rest', { chain: chain.id, endpoint: position, error: failure });
  };

  return {
    position,
    range,
    callAll,
    head: null,
    restsUntil: () => restsUntil,
    ready: async () => {
      verified ??= verify();
      try {
        await verified;
      } catch (error) {
        verified = null;
        throw error;
      }
    },
    settle: (failure) => {
      if (!failure) {
        if (rests > 0) log.info('an endpoint answers again', { chain: chain.id, endpoint: position });
        failuresInRow = 0;
        rests = 0;
        return;
      }
      if (failure.kind === 'closed') return;
      lastFailure = failure.message;
      log.debug('an endpoint failed', { chain: chain.id, endpoint: position, error: failure });
      if (!failure.fault) return;
      failures += 1;
      failuresInRow += 1;
      if (RESTS_AT_ONCE.has(failure.kind) || failuresInRow >= FAILURES_MAX) rest(failure);
    },
    status(bestHead) {
      const resting = state !== 'wrong-chain' && restsUntil > clock();
      return {
        position,
        host: target.host,
        state: resting ? 'resting' : state,
        head: this.head,
        lag: this.head === null || bestHead === null ? null : Math.max(0, bestHead - this.head),
        failures,
        lastFailure,
        rangeBlocks: range.now(),
        batchSize,
      };
    },
  };
}

/** Failures after which asking again at once is useless or unkind. */
const RESTS_AT_ONCE: ReadonlySet<string> = new Set(['limited', 'wrong-chain', 'lie', 'undecodable', 'refused']);

/** What endpoints answer to a batch that they do not take varies; a smaller one finds out. */
const MAY_BE_THE_BATCH: ReadonlySet<string> = new Set(['batch', 'refused', 'too-large', 'unsupported']);
const mayBeTheBatch = (failure: RpcFailure) => MAY_BE_THE_BATCH.has(failure.kind);

type Target = { url: string; host: string; headers: Record<string, string>; redact: (text: string) => string };

/** Splits user and password off, which `fetch` does not take within a URL. */
function toTarget(text: string): Target {
  const url = new URL(text);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = '';
  url.password = '';
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  const secrets = [user, password, ...url.pathname.split('/'), ...url.searchParams.values()].filter(
    (part) => part.length >= SECRET_LENGTH_MIN,
  );
  return {
    url: url.href,
    host: url.host,
    headers: { 'content-type': 'application/json', ...(user || password ? { authorization: `Basic ${basic}` } : {}) },
    redact: (said) => secrets.reduce((left, secret) => left.replaceAll(secret, '…'), said),
  };
}

/** Shorter parts of a path are `v2`, `rpc`, `mainnet`. */
const SECRET_LENGTH_MIN = 8;

async function post(target: Target, body: string, options: EndpointOptions): Promise<Exchange> {
  const { timeoutMs, signal } = options;
  try {
    return await exchange(target.url, {
      method: 'POST',
      headers: target.headers,
      body,
      timeoutMs,
      bytesMax: RESPONSE_BYTES_MAX,
      signal,
    });
  } catch (error) {
    if (!(error instanceof ExchangeFailure)) throw error;
    if (error.reason === 'aborted') throw new RpcFailure('closed');
    if (error.reason === 'redirected') throw lie('a redirect');
    throw new RpcFailure(error.reason);
  }
}
