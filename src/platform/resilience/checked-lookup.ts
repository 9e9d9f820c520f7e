// The DNS lookup function for connections to hosts that a third party chose, such as the URLs of webhooks and of token metadata. The
// connections use only addresses that have been checked.

import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-target.ts';
import type { Resolve } from './resolve-host.ts';

/** The message may be shown to the person who chose the host. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';

  constructor() {
    super('the host has an address that is not public');
  }
}

/**
 * The lookup function of a connection: resolves the host name and checks the addresses. The connection uses only these addresses, so a name
 * server cannot replace them by a private address later.
 */
export function createCheckedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, { all, family }, callback) => {
    const find = async () => {
      const found = await resolve(hostname);
      if (!allowPrivate && !found.every(({ address }) => isPublicAddress(address))) {
        throw new PrivateAddressError();
      }
      const usable = family === 4 || family === 6 ? found.filter((one) => one.family === family) : found;
      const [first] = usable;
      if (!first) throw Object.assign(new Error('no address'), { code: dns.NOTFOUND });
      return { usable, first };
    };
    find().then(
      ({ usable, first }) => (all ? callback(null, usable) : callback(null, first.address, first.family)),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
