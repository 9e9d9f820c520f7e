// Counts the requests to the public interfaces and pages: by API key if the request carries a key with the scope `market:read`, and otherwise by client
// address. The public interfaces need no key, so a key that cannot be used is no error: the request is counted by address.

import type { IncomingMessage } from 'node:http';
import type { Networks } from '../platform/http/networks.ts';
import type { Counted, RateLimitBucket, RateLimitExceeded, RateLimiter } from '../platform/http/rate-limit.ts';
import { READ_KEY_LIMITS } from '../platform/http/rate-limit.ts';
import { noteCaller, secretOf } from '../shop/http/authenticate.ts';
import type { KeyVerifier, VerifiedKey } from '../shop/keys/key-verifier.ts';
import { READ_SCOPE } from '../shop/keys/scopes.ts';
import type { ClientAddress } from './client-address.ts';

export type RequestCounterOptions = {
  limiter: RateLimiter;
  keys: Pick<KeyVerifier, 'verifyReader'>;
  address: ClientAddress;
  /** Requests from these networks are not counted. */
  exemptNetworks: Networks;
};

export class RequestCounter {
  readonly #options: RequestCounterOptions;

  constructor(options: RequestCounterOptions) {
    this.#options = options;
  }

  count(bucket: RateLimitBucket, request: IncomingMessage): Counted {
    if (request.headers.authorization === undefined) return this.#countByAddress(bucket, request);
    const secret = secretOf(request);
    const verified = secret === null ? null : this.#options.keys.verifyReader(secret);
    if (!(verified instanceof Promise)) return this.#countWithKey(bucket, request, verified);
    return verified.then((found) => this.#countWithKey(bucket, request, found));
  }

  #countWithKey(bucket: RateLimitBucket, request: IncomingMessage, verified: VerifiedKey | null): Counted {
    if (!verified?.caller.scopes.has(READ_SCOPE)) return withNote(this.#countByAddress(bucket, request));
    const { key, caller } = verified;
    noteCaller(request, caller);
    if (this.#isExempt(request)) return null;
    // The messages to /mcp have the limit of items, and are counted apart from the reads that they cause.
    const limit =
      bucket === 'list' ? (key.listLimit ?? READ_KEY_LIMITS.list) : (key.itemLimit ?? READ_KEY_LIMITS.single);
    return this.#options.limiter.count(bucket, key.id, limit);
  }

  #countByAddress(bucket: RateLimitBucket, request: IncomingMessage): Counted {
    const { limiter, address } = this.#options;
    return this.#isExempt(request) ? null : limiter.count(bucket, address.counted(request));
  }

  #isExempt(request: IncomingMessage): boolean {
    const { address, exemptNetworks } = this.#options;
    return !exemptNetworks.isEmpty && exemptNetworks.has(address.exact(request));
  }
}

const NOTE = `The request was counted by client address, because its API key is not valid or lacks the scope ${READ_SCOPE}`;

/** A client with a mistyped or revoked key learns why it has the limits of a client without a key. */
function withNote(counted: Counted): Counted {
  const add = (exceeded: RateLimitExceeded | null) => exceeded && { ...exceeded, note: NOTE };
  return counted instanceof Promise ? counted.then(add) : add(counted);
}
