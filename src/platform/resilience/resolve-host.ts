// Resolves the host names of URLs that are chosen by others, such as shops. By default this process sends DNS queries itself. The system's
// resolver shares a pool of four threads with file access, so four slow look-ups would block all other look-ups and file access.

import dns from 'node:dns';

export type ResolvedAddress = { address: string; family: 4 | 6 };

/** The addresses of a host name. Rejects if there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

const SERVER_TIMEOUT_MS = 3_000;
const TRIES = 2;

/** If `bySystem` is true, the operating system resolves names, and also reads the hosts file. Otherwise only DNS queries are used. */
export function createResolve(bySystem: boolean): Resolve {
  return bySystem ? resolveBySystem : createDnsResolve();
}

async function resolveBySystem(hostname: string): Promise<ResolvedAddress[]> {
  const found = await dns.promises.lookup(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function createDnsResolve(): Resolve {
  const resolver = new dns.promises.Resolver({ timeout: SERVER_TIMEOUT_MS, tries: TRIES });
  return async (hostname) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: ResolvedAddress[] = [];
    if (ipv4.status === 'fulfilled') found.push(...ipv4.value.map((address) => ({ address, family: 4 as const })));
    if (ipv6.status === 'fulfilled') found.push(...ipv6.value.map((address) => ({ address, family: 6 as const })));
    if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
    return found;
  };
}
