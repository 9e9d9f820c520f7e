// A client that sends requests to one service, and notes the status and the duration of each response.

import { randomInt } from 'node:crypto';

/** A request without a response after this time has failed. This time is longer than any deadline of the service. */
const NO_RESPONSE_MS = 40_000;

export type Sent = {
  method: string;
  path: string;
  body?: unknown;
  idempotencyKey?: string;
};

export type Answer = {
  /** `no response`: the connection was refused or broken, or the response was cut off. */
  status: number | 'no response';
  headers: Headers;
  text: string;
};

/** A response that the documented interface does not allow, such as a 500, or a 503 without `Retry-After`. */
export type Unexpected = { sent: Sent; answer: Answer };

/** A response without a status of success, and the time until it arrived. */
export type Failure = Unexpected & { ms: number };

const EXAMPLES_MAX = 20;

/** The responses in one phase of the load. */
export class Tally {
  readonly statuses = new Map<number | 'no response', number>();
  /** The first unexpected responses. */
  readonly unexpected: Unexpected[] = [];
  /** The first responses that are no success. */
  readonly failures: Failure[] = [];
  slowestMs = 0;

  note(sent: Sent, answer: Answer, ms: number): void {
    this.statuses.set(answer.status, this.count(answer.status) + 1);
    this.slowestMs = Math.max(this.slowestMs, ms);
    const isFailure = typeof answer.status !== 'number' || answer.status >= 300;
    if (isFailure && this.failures.length < EXAMPLES_MAX) this.failures.push({ sent, answer, ms });
    if (!isExpected(sent, answer) && this.unexpected.length < EXAMPLES_MAX) this.unexpected.push({ sent, answer });
  }

  count(status: number | 'no response'): number {
    return this.statuses.get(status) ?? 0;
  }

  get total(): number {
    return [...this.statuses.values()].reduce((sum, count) => sum + count, 0);
  }

  /** For example `1200 × 200, 31 × 503, slowest 5.0 s`. */
  describe(): string {
    const counts = [...this.statuses].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    const parts = counts.map(([status, count]) => `${count} × ${status}`);
    return `${parts.join(', ')}, slowest ${(this.slowestMs / 1_000).toFixed(1)} s`;
  }
}

function isExpected({ method, path }: Sent, { status, headers }: Answer): boolean {
  switch (status) {
    case 200:
    case 201:
    case 204:
      return true;
    case 404:
      // An earlier attempt has deleted the product.
      return method === 'DELETE';
    case 409:
      // An earlier attempt with the same Idempotency-Key is still running.
      return method !== 'GET';
    case 502:
      return path.startsWith('/v1');
    case 503:
      return headers.has('retry-after');
    case 'no response':
    default:
      return false;
  }
}

export class Client {
  readonly #url: () => string;
  readonly #secret: string;
  #tally = new Tally();

  constructor(url: () => string, secret: string) {
    this.#url = url;
    this.#secret = secret;
  }

  /** Starts a new tally and returns the previous tally. */
  takeTally(): Tally {
    const taken = this.#tally;
    this.#tally = new Tally();
    return taken;
  }

  async send(sent: Sent): Promise<Answer> {
    const { method, path, body, idempotencyKey } = sent;
    const startedAt = performance.now();
    const tally = this.#tally;
    const isText = typeof body === 'string';
    let answer: Answer;
    try {
      const response = await fetch(`${this.#url()}${path}`, {
        method,
        headers: {
          ...(!path.startsWith('/v1') && { authorization: `Bearer ${this.#secret}` }),
          ...(body !== undefined && { 'content-type': isText ? 'application/x-ndjson' : 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          // Each request has a different client address, so that it does not reach the rate limit of an address.
          'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`,
        },
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(NO_RESPONSE_MS),
      });
      answer = { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      answer = { status: 'no response', headers: new Headers(), text: describe(error) };
    }
    tally.note(sent, answer, performance.now() - startedAt);
    return answer;
  }
}

function describe(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
