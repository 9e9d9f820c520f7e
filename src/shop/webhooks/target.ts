// Where a webhook may be sent. Whoever has a key chooses the URL, and the request leaves from inside the operator's network:
// only addresses of the public internet are targets. What a name resolves to is judged by `isPublicAddress` at every connection.

import ipaddr from 'ipaddr.js';

export const TARGET_LENGTH_MAX = 2_048;

/** Every global unicast IPv6 address is in it; what is not cannot be on the public internet. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** Names that always mean the machine itself (RFC 6761), whatever a name server says. */
const LOCAL_NAME = /(?:^|\.)localhost\.?$/;
/** A cloud's own service behind an address that looks public (Azure). */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);

export type Target = { url: URL } | { refusal: string };

/** Reads a target strictly. `allowPrivate`: http and addresses that are not public are the operator's wish. */
export function parseTarget(text: string, allowPrivate: boolean): Target {
  if (text.length > TARGET_LENGTH_MAX) return { refusal: `must have at most ${TARGET_LENGTH_MAX} characters` };
  if (!/^[!-~]+$/.test(text) || !URL.canParse(text)) return { refusal: 'must be a URL in ASCII' };
  const url = new URL(text);
  const isPlain = url.protocol === 'http:' && allowPrivate;
  if (url.protocol !== 'https:' && !isPlain) return { refusal: 'must be an https URL' };
  if (url.username || url.password) return { refusal: 'must not carry a user name or password' };
  if (url.hash) return { refusal: 'must not carry a fragment' };
  const literal = literalOf(url.hostname);
  const isLocal = literal === null ? LOCAL_NAME.test(url.hostname) : !isPublicAddress(literal);
  if (!allowPrivate && isLocal) return { refusal: 'must be a public address' };
  return { url };
}

/** True for addresses of the public internet alone. Anything that hides another address in it is not one. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || METADATA_ADDRESSES.has(address.toString())) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** The address that a host name of a URL is, or null for a name. URLs spell decimal, octal and hexadecimal IPv4 one way. */
export function literalOf(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : null;
}
