// The URLs to which webhooks may be sent. Shops choose the URLs, and the requests are sent from inside the operator's network, so only
// public addresses are allowed by default. The sender checks the addresses of host names with `isPublicAddress`.

import ipaddr from 'ipaddr.js';

export const TARGET_LENGTH_MAX = 2_048;

/** 2000::/3. IPv6 addresses outside this range are not on the public internet. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** Names that mean the machine itself (RFC 6761), whatever a name server returns. */
const LOCAL_NAME = /(?:^|\.)localhost\.?$/;
/** Cloud metadata services at addresses that look public (Azure). */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);

/** `error` is the end of a sentence that begins with "the URL". */
export type ParsedTarget = { url: URL } | { error: string };

/** Parses a target URL. With `allowPrivate`, http and addresses that are not public are allowed. */
export function parseTarget(text: string, allowPrivate: boolean): ParsedTarget {
  if (text.length > TARGET_LENGTH_MAX) return { error: `must have at most ${TARGET_LENGTH_MAX} characters` };
  if (!/^[!-~]+$/.test(text) || !URL.canParse(text)) return { error: 'must be a URL in ASCII' };
  const url = new URL(text);
  const isAllowedHttp = url.protocol === 'http:' && allowPrivate;
  if (url.protocol !== 'https:' && !isAllowedHttp) return { error: 'must be an https URL' };
  if (url.username || url.password) return { error: 'must not contain a user name or password' };
  if (url.hash) return { error: 'must not contain a fragment' };
  const literal = parseAddressLiteral(url.hostname);
  const isLocal = literal === null ? LOCAL_NAME.test(url.hostname) : !isPublicAddress(literal);
  if (!allowPrivate && isLocal) return { error: 'must have a host with a public address' };
  return { url };
}

/** True for addresses of the public internet. An IPv6 address that contains an IPv4 address counts as not public. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || METADATA_ADDRESSES.has(address.toString())) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** The address in the host of a URL; null for a name. `URL` has already converted decimal, octal and hexadecimal IPv4 forms. */
function parseAddressLiteral(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : null;
}
