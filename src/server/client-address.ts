// Whom a request is counted against: the socket's address, or behind a trusted proxy what that proxy says.

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';

const IPV6_SUBSCRIBER_BYTES = 8;

/** The rule that finds a client's address. With trust in a number of proxies, that many are believed, counted from here. */
export function createClientAddress(trustProxy: number | readonly string[]): (request: IncomingMessage) => string {
  if (trustProxy === 0) return (request) => toCounted(request.socket.remoteAddress ?? '');
  const trust =
    typeof trustProxy === 'number'
      ? (_address: string, hop: number) => hop < trustProxy
      : proxyAddress.compile([...trustProxy]);
  return (request) => {
    const socketAddress = request.socket.remoteAddress ?? '';
    const told = proxyAddress(request, trust).trim();
    return toCounted(isIP(told) === 0 ? socketAddress : told);
  };
}

/** IPv4 as it is, mapped IPv4 as IPv4, and IPv6 by /64: one subscriber has at least that many addresses. */
function toCounted(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return parsed.toByteArray().slice(0, IPV6_SUBSCRIBER_BYTES).join('.');
}
