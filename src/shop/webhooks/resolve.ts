// What a host name stands for. Names that strangers chose are asked of the name servers directly: the system's resolver works in
// four threads that it shares with the file system, and four names that hang would stop everyone.

import dns from 'node:dns';

export type ResolvedAddress = { address: string; family: 4 | 6 };

/** The addresses of a name; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

const SERVER_TIMEOUT_MS = 3_000;
const TRIES = 2;

/** `bySystem`: as every program on this machine does it, its hosts file included. */
export function createResolve(bySystem: boolean): Resolve {
  return bySystem ? resolveBySystem : createServerResolve();
}

async function resolveBySystem(hostname: string): Promise<ResolvedAddress[]> {
  const found = await dns.promises.lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function createServerResolve(): Resolve {
  const resolver = new dns.promises.Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES });
  return async (hostname) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: ResolvedAddress[] = [];
    if (four.status === 'fulfilled') found.push(...four.value.map((address) => ({ address, family: 4 as const })));
    if (six.status === 'fulfilled') found.push(...six.value.map((address) => ({ address, family: 6 as const })));
    if (found.length === 0 && four.status === 'rejected') throw four.reason;
    return found;
  };
}
