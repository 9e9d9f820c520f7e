// The client address under which requests are counted: the address of the socket or, behind trusted proxies, the address in their
// X-Forwarded-For.

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

const IPV6_SUBSCRIBER_BYTES = 8;

/** `trustProxy`: the number of trusted proxies before the service, or their addresses. */
export function createClientAddress(trustProxy: number | readonly string[]): (request: IncomingMessage) => string {
  if (trustProxy === 0) return (request) => toCounted(request.socket.remoteAddress ?? '');
  const trust =
    typeof trustProxy === 'number'
      ? (_address: string, hop: number) => hop < trustProxy
      : proxyAddress.compile([...trustProxy]);
  return (request) => {
    const socketAddress = request.socket.remoteAddress ?? '';
    // If the client has reset the connection, its socket has no address.
    const found: string | undefined = proxyAddress(request, trust);
    const forwarded = (found ?? '').trim();
    return toCounted(isIP(forwarded) === 0 ? socketAddress : forwarded);
  };
}

/** Counts an IPv6 address by its /64, because a subscriber has at least a /64. IPv4-mapped IPv6 counts as IPv4. */
function toCounted(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toByteArray().slice(0, IPV6_SUBSCRIBER_BYTES).join('.');
}
