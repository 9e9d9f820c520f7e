// Checks URLs that somebody other than the operator has chosen, before the service sends requests to them: webhooks of shops, and metadata of
// tokens. The requests are sent from inside the operator's network, so by default only public addresses are allowed. `createCheckedLookup`
// checks the addresses to which a host name resolves.

import ipaddr from 'ipaddr.js';

export const TARGET_LENGTH_MAX = 2_048;

/** 2000::/3. Other IPv6 addresses are not on the public internet. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** Host names that always mean the local machine (RFC 6761). The address that a name server returns for them does not matter. */
const LOCAL_NAME = /(?:^|\.)localhost\.?$/;
/** Addresses of cloud metadata services that look public (Azure). */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);

/** `error` completes a sentence that begins with "the URL". `reason` is `private` for a host that has no public address. */
export type ParsedTarget = { url: URL } | { error: string; reason: 'malformed' | 'private' };

/** Parses a target URL. `allowPrivate`: whether addresses that are not public are allowed. `allowHttp`: whether http is allowed. */
export function parseTarget(text: string, allowPrivate: boolean, allowHttp = allowPrivate): ParsedTarget {
  if (text.length > TARGET_LENGTH_MAX) return malformed(`must have at most ${TARGET_LENGTH_MAX} characters`);
  if (!/^[!-~]+$/.test(text) || !URL.canParse(text)) return malformed('must be a URL in ASCII');
  const url = new URL(text);
  const isAllowedHttp = url.protocol === 'http:' && allowHttp;
  if (url.protocol !== 'https:' && !isAllowedHttp) return malformed('must be an https URL');
  if (url.username || url.password) return malformed('must not contain a user name or password');
  if (url.hash) return malformed('must not contain a fragment');
  const literal = parseAddressLiteral(url.hostname);
  const isLocal = literal === null ? LOCAL_NAME.test(url.hostname) : !isPublicAddress(literal);
  if (!allowPrivate && isLocal) return { error: 'must have a host with a public address', reason: 'private' };
  return { url };
}

function malformed(error: string): ParsedTarget {
  return { error, reason: 'malformed' };
}

/** Whether the address is on the public internet. An IPv6 address that contains an IPv4 address counts as not public. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || METADATA_ADDRESSES.has(address.toString())) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** The address in the host of a URL. Null if the host is a name. `URL` has already normalized decimal, octal and hexadecimal IPv4 forms. */
function parseAddressLiteral(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : null;
}
