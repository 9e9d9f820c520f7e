// The client address under which requests are counted: the address of the socket or, behind trusted proxies, the address in their
// X-Forwarded-For.

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';
import type { StatusProvider } from '../platform/core/status.ts';
import { isPublicAddress } from '../platform/resilience/public-target.ts';
import type { EndedRequest } from './request-observer.ts';

const IPV6_SUBSCRIBER_BYTES = 8;

export type ClientAddress = {
  /** The address under which requests are counted. */
  counted: (request: IncomingMessage) => string;
  /** The address of the client. Empty if the client has reset its connection. */
  exact: (request: IncomingMessage) => string;
};

/** `trustProxy`: the number of trusted proxies before the service, or their addresses. */
export function createClientAddress(trustProxy: number | readonly string[]): ClientAddress {
  const exact = createExactAddress(trustProxy);
  return { exact, counted: (request) => toCounted(exact(request)) };
}

function createExactAddress(trustProxy: number | readonly string[]): ClientAddress['exact'] {
  if (trustProxy === 0) return (request) => request.socket.remoteAddress ?? '';
  const trust = toTrust(trustProxy);
  return (request) => {
    const socketAddress = request.socket.remoteAddress ?? '';
    // If the client has reset the connection, its socket has no address.
    const found: string | undefined = proxyAddress(request, trust);
    const forwarded = (found ?? '').trim();
    return isIP(forwarded) === 0 ? socketAddress : forwarded;
  };
}

/**
 * Counts the requests that came through more proxies than TRUST_PROXY names: their address is not public, and X-Forwarded-For has further
 * addresses. All clients behind such a proxy share its address, and so its rate limits.
 */
export class UncountedProxies {
  readonly #trust: (address: string, hop: number) => boolean;
  #requests = 0;

  constructor(trustProxy: number | readonly string[]) {
    this.#trust = toTrust(trustProxy);
  }

  readonly observe = ({ request }: Pick<EndedRequest, 'request'>): void => {
    const header = request.headers['x-forwarded-for'];
    if (header === undefined) return;
    const used = proxyAddress.all(request, this.#trust);
    const counted = used.at(-1) ?? '';
    const hasFurther = String(header).split(',').length + 1 > used.length;
    if (hasFurther && isIP(counted) !== 0 && !isPublicAddress(counted)) this.#requests += 1;
  };

  /** The section `clients` of the status. */
  readonly status: StatusProvider = {
    section: 'clients',
    read: () => Promise.resolve({ requestsOfUncountedProxies: this.#requests }),
  };
}

function toTrust(trustProxy: number | readonly string[]): (address: string, hop: number) => boolean {
  return typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : proxyAddress.compile([...trustProxy]);
}

/** Counts an IPv6 address by its /64, because a subscriber has at least a /64. IPv4-mapped IPv6 counts as IPv4. */
function toCounted(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toByteArray().slice(0, IPV6_SUBSCRIBER_BYTES).join('.');
}
