// What may go wrong between a question to an endpoint and an answer that can be used, as a closed table; and how the errors
// that endpoints word each in their own way are sorted into it. No message of a failure may hold an endpoint's URL.

/** `fault`: the endpoint is to blame and gets nearer to a rest. Otherwise it said honestly what it cannot do. */
const KINDS = {
  timeout: { fault: true, message: 'no whole answer in time' },
  unreachable: { fault: true, message: 'the connection failed' },
  'too-large': { fault: true, message: 'the answer is larger than allowed' },
  limited: { fault: true, message: 'too many requests' },
  refused: { fault: true, message: 'the request was refused' },
  server: { fault: true, message: 'the server failed' },
  error: { fault: true, message: 'an error was answered' },
  lie: { fault: true, message: 'the answer cannot be true' },
  undecodable: { fault: true, message: 'an event of the protocol cannot be read' },
  'doubtful-head': { fault: false, message: 'its newest block is not plausible' },
  'wrong-chain': { fault: true, message: 'it serves another chain' },
  range: { fault: false, message: 'the range asked for is too large' },
  batch: { fault: false, message: 'the batch was not taken' },
  absent: { fault: false, message: 'it does not have the block' },
  'no-state': { fault: false, message: 'it does not keep the state of that block' },
  unsupported: { fault: false, message: 'it does not know the method' },
  reverted: { fault: false, message: 'the call reverted' },
  closed: { fault: false, message: 'given up' },
} as const;

export type RpcFailureKind = keyof typeof KINDS;

type Details = { retryAfterMs?: number | null; cause?: unknown };

/** A question that one endpoint did not answer usefully. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly kind: RpcFailureKind;
  /** How long the endpoint wants to be left alone, where it says so. */
  readonly retryAfterMs: number | null;

  constructor(kind: RpcFailureKind, detail: string | null = null, { retryAfterMs = null, cause }: Details = {}) {
    super(detail === null ? KINDS[kind].message : `${KINDS[kind].message}: ${detail}`, { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }

  get fault(): boolean {
    return KINDS[this.kind].fault;
  }
}

/** No endpoint of the chain gave an answer that can be used. Every one's last failure is in `failures`, by position. */
export class ChainUnavailable extends Error {
  override readonly name = 'ChainUnavailable';
  readonly failures: ReadonlyMap<number, RpcFailure>;

  constructor(chainId: string, failures: ReadonlyMap<number, RpcFailure>) {
    const each = [...failures].map(([position, failure]) => `endpoint ${position}: ${failure.message}`);
    super(`no endpoint of ${chainId} answers usefully (${each.join('; ') || 'all of them rest'})`);
    this.failures = failures;
  }
}

/** An answer that contradicts itself, the question or what is known. */
export function lie(detail: string): RpcFailure {
  return new RpcFailure('lie', detail);
}

// In the order of the test: a rate limit «is exceeded» too, a block «beyond the head» is about a range of blocks too.
const WORDINGS: readonly (readonly [RpcFailureKind, RegExp])[] = [
  [
    'limited',
    /rate.?limit|request rate|too many requests|request count|requests? per|per.second|compute unit|quota|credit|throttl|capacity exceeded|usage limit/i,
  ],
  ['batch', /\bbatch/i],
  ['reverted', /revert|invalid opcode|invalid jump|out of gas|stack (under|over)flow|vm execution error/i],
  [
    'no-state',
    /missing trie node|state .{0,80}(not available|unavailable|is not)|\bpruned|archive|historical state|proof window|old data not/i,
  ],
  [
    'absent',
    /unknown block|(header|block).{0,80}(not|cannot) (be |been )?found|could not find block|beyond (the )?(current )?head|after last accepted|invalid block range|block out of range|blockoutofrange|future block|not yet (available|indexed|mined)/i,
  ],
  [
    'range',
    /range|too (large|wide|many|big)|exceed|bigger than|larger than|greater than|more than \d|results|response size|block(s)? distance|(query|request|execution).{0,20}time(d)? ?out|reduce|limited to|max is/i,
  ],
  ['unsupported', /method .{0,60}(not|n't)|not (supported|implemented|whitelisted|allowed)|unsupported/i],
];

const CODE_REVERTED = 3;
const CODE_METHOD_UNKNOWN = -32_601;
const CODE_LIMITED = 429;
/** Of an endpoint's own words, as much as helps whoever reads the log. */
const SAID_LENGTH_MAX = 200;

/** Sorts a JSON-RPC error object. `redact` takes the endpoint's secrets out of what it said. */
export function toRpcFailure(error: unknown, redact: (text: string) => string): RpcFailure {
  const { code, message, data } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  const text = `${typeof message === 'string' ? message : ''} ${dataText(data)}`.trim();
  const said = redact(`${typeof code === 'number' ? code : 'no code'} ${text}`.slice(0, SAID_LENGTH_MAX));
  return new RpcFailure(kindOf(code, text), said);
}

function kindOf(code: unknown, text: string): RpcFailureKind {
  if (code === CODE_LIMITED) return 'limited';
  if (code === CODE_REVERTED) return 'reverted';
  if (code === CODE_METHOD_UNKNOWN) return 'unsupported';
  return WORDINGS.find(([, wording]) => wording.test(text))?.[0] ?? 'error';
}

/** Some put the reason there. Revert data is long hex without any. */
function dataText(data: unknown): string {
  if (data === undefined || data === null) return '';
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return text.startsWith('0x') ? '' : text;
}
