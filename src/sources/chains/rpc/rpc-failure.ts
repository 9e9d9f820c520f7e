// Defines how a request to an endpoint can fail. Finds the kind of failure that a JSON-RPC error means, from its code and from its text,
// which differs between endpoints. No message contains the URL of an endpoint, which may be a secret.

import { OperatorError } from '../../../platform/core/errors.ts';

/** `counts`: the failure counts towards opening the endpoint's breaker. The other kinds do not show a faulty endpoint. */
const KINDS = {
  timeout: { counts: true, message: 'no complete response in time' },
  unreachable: { counts: true, message: 'the connection failed' },
  'too-large': { counts: true, message: 'the response is larger than allowed' },
  'rate-limited': { counts: true, message: 'too many requests' },
  rejected: { counts: true, message: 'the request was rejected' },
  'server-error': { counts: true, message: 'the server failed' },
  'rpc-error': { counts: true, message: 'the response is an error' },
  'invalid-response': { counts: true, message: 'the response is not valid' },
  undecodable: { counts: true, message: 'an event of a settlement protocol cannot be decoded' },
  'wrong-chain': { counts: true, message: 'it serves another chain' },
  contradicted: { counts: true, message: 'other endpoints serve other data' },
  'implausible-head': { counts: false, message: 'its newest block is not plausible' },
  'range-too-large': { counts: false, message: 'the range of blocks is too large' },
  'batch-rejected': { counts: false, message: 'the batch was rejected' },
  'not-found': { counts: false, message: 'it does not have the block' },
  'no-state': { counts: false, message: 'it does not keep the state of that block' },
  refused: { counts: false, message: 'it does not serve such requests' },
  unsupported: { counts: false, message: 'it does not support the method' },
  reverted: { counts: false, message: 'the call reverted' },
  'call-failed': { counts: false, message: 'the contract call cannot be executed' },
  'call-disputed': { counts: false, message: 'the endpoints return different results of a contract call' },
  closed: { counts: false, message: 'the reader was closed' },
} as const;

export type RpcFailureKind = keyof typeof KINDS;

type Details = { retryAfterMs?: number | null; cause?: unknown };

export class RpcFailure extends OperatorError {
  override readonly name = 'RpcFailure';
  readonly kind: RpcFailureKind;
  /** The wait that the endpoint requested with `Retry-After`; null when it requested none. */
  readonly retryAfterMs: number | null;

  constructor(kind: RpcFailureKind, detail: string | null = null, { retryAfterMs = null, cause }: Details = {}) {
    super(detail === null ? KINDS[kind].message : `${KINDS[kind].message}: ${detail}`, { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }

  get counts(): boolean {
    return KINDS[this.kind].counts;
  }
}

/** No endpoint of the chain returned a usable response. The keys of `failures` are the positions of the endpoints in the chain's setting. */
export class ChainUnavailable extends OperatorError {
  override readonly name = 'ChainUnavailable';
  readonly failures: ReadonlyMap<number, RpcFailure>;

  constructor(chainId: string, failures: ReadonlyMap<number, RpcFailure>) {
    const each = [...failures].map(([position, failure]) => `endpoint ${position}: ${failure.message}`);
    super(
      `no endpoint of ${chainId} returned a usable response (${each.join('; ') || 'the breakers of all endpoints are open'})`,
    );
    this.failures = failures;
  }
}

/** For a response that contradicts itself, its request, or an earlier verified response. */
export function invalidResponse(detail: string): RpcFailure {
  return new RpcFailure('invalid-response', detail);
}

// The first pattern that matches decides. `rate-limited` and `not-found` come before `range-too-large`, because texts about a rate limit also
// contain "exceeded", and texts about a block beyond the head also contain "range".
const ERROR_PATTERNS: readonly (readonly [RpcFailureKind, RegExp])[] = [
  // A contract chooses the text after this word, which may match any of the other patterns.
  ['reverted', /revert/i],
  [
    'rate-limited',
    /rate.?limit|request rate|too many requests|request count|requests? per|per.second|compute unit|quota|credit|throttl|capacity exceeded|usage limit/i,
  ],
  ['batch-rejected', /\bbatch/i],
  ['reverted', /invalid opcode|invalid jump|out of gas|stack (under|over)flow|vm execution error/i],
  [
    'no-state',
    /missing trie node|state .{0,80}(not available|unavailable|is not)|\bpruned|archive|historical state|proof window|old data not/i,
  ],
  [
    'not-found',
    /unknown block|(header|block).{0,80}(not|cannot) (be |been )?found|could not find block|beyond (the )?(current )?head|after last accepted|invalid block range|block out of range|blockoutofrange|future block|not yet (available|indexed|mined)/i,
  ],
  [
    'range-too-large',
    /range|too (large|wide|many|big)|exceed|bigger than|larger than|greater than|more than \d|results|response size|block(s)? distance|(query|request|execution).{0,20}time(d)? ?out|reduce|limited to|max is/i,
  ],
  ['unsupported', /method .{0,60}(not|n't)|not (supported|implemented|whitelisted|allowed)|unsupported/i],
];

const CODE_REVERTED = 3;
const CODE_METHOD_UNKNOWN = -32_601;
const CODE_RATE_LIMITED = 429;
/** The largest number of characters that are logged of an endpoint's error. */
const ERROR_LENGTH_MAX = 200;

/** `redact` removes the endpoint's secrets from the text of the error. */
export function toRpcFailure(error: unknown, redact: (text: string) => string): RpcFailure {
  const { code, message, data } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  const text = `${typeof message === 'string' ? message : ''} ${dataText(data)}`.trim();
  const detail = redact(`${typeof code === 'number' ? code : 'no code'} ${text}`.slice(0, ERROR_LENGTH_MAX));
  return new RpcFailure(kindOf(code, text), detail);
}

function kindOf(code: unknown, text: string): RpcFailureKind {
  if (code === CODE_RATE_LIMITED) return 'rate-limited';
  if (code === CODE_REVERTED) return 'reverted';
  if (code === CODE_METHOD_UNKNOWN) return 'unsupported';
  return ERROR_PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'rpc-error';
}

/** The text in `data`, where some endpoints put the reason. Revert data, which is long hexadecimal text, is left out. */
function dataText(data: unknown): string {
  if (data === undefined || data === null) return '';
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return text.startsWith('0x') ? '' : text;
}
