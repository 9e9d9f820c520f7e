// Parses the URIs of metadata: data:, http(s), ipfs:// and ar://. A URI of IPFS or Arweave becomes one URL for each configured gateway.
// Data URIs: RFC 2397. The {id} of ERC-1155: https://eips.ethereum.org/EIPS/eip-1155#metadata

import { createHash } from 'node:crypto';
import type { AssetId } from '../../platform/core/address.ts';

export type Gateways = { ipfsGateways: readonly string[]; arweaveGateways: readonly string[] };

/**
 * `host` is the name that the status reports: `data`, `ipfs`, `arweave` or the host of the URL. `isGateway`: the operator has configured
 * the host, so the host may have a private address.
 */
export type ParsedUri =
  | { kind: 'data'; host: 'data'; mediaType: string; body: Buffer }
  | { kind: 'remote'; host: string; urls: readonly string[]; isGateway: boolean }
  | { kind: 'unsupported' };

const UNSUPPORTED: ParsedUri = { kind: 'unsupported' };
const URL_LENGTH_MAX = 2_048;
/** At most 253 characters for the host name, and six for a colon and a port. */
const HOST_LENGTH_MAX = 259;
const HEX_ID_DIGITS = 64;
const DIGEST_DIGITS = 32;

/** Replaces `{id}` by the token id in 64 lower-case hexadecimal digits. */
export function fillTokenId(uri: string, tokenId: AssetId): string {
  if (!uri.includes('{id}')) return uri;
  return uri.replaceAll('{id}', BigInt(tokenId).toString(16).padStart(HEX_ID_DIGITS, '0'));
}

/** Two URIs are equal if their digests are equal. The digest is stored in place of the URI, because a data URI may be very long. */
export function digestUri(uri: string): string {
  return createHash('sha256').update(uri).digest('hex').slice(0, DIGEST_DIGITS);
}

export function parseMetadataUri(text: string, gateways: Gateways): ParsedUri {
  const uri = text.trim();
  const scheme = /^([a-z]+):/i.exec(uri)?.[1]?.toLowerCase();
  if (scheme === 'data') return parseDataUri(uri);
  // JSON without a scheme: some contracts return the metadata itself.
  if (uri.startsWith('{')) return toData('application/json', Buffer.from(uri));
  if (uri.length > URL_LENGTH_MAX) return UNSUPPORTED;
  if (scheme === 'http' || scheme === 'https') return parseHttpUri(uri, gateways);
  if (scheme === 'ar') return toGateways('arweave', uri.slice('ar://'.length), gateways.arweaveGateways);
  if (scheme === 'ipfs') return toIpfs(uri.slice('ipfs://'.length).replace(/^\/*(ipfs\/)?/, ''), gateways);
  if (scheme === undefined && CONTENT_ID.test(uri)) return toIpfs(uri, gateways);
  return UNSUPPORTED;
}

/** A content id of IPFS at the start of a path: version 0 in Base58, or version 1 in Base32. */
const CONTENT_ID = /^(Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58,112})(?=[/?]|$)/;

/** A URL of a public gateway, such as https://ipfs.io/ipfs/Qm…, is read through the configured gateways. */
function parseHttpUri(uri: string, gateways: Gateways): ParsedUri {
  if (!URL.canParse(uri)) return UNSUPPORTED;
  const url = new URL(uri);
  const content = `${url.pathname.slice('/ipfs/'.length)}${url.search}`;
  if (url.pathname.startsWith('/ipfs/') && CONTENT_ID.test(content) && gateways.ipfsGateways.length > 0) {
    return toIpfs(content, gateways);
  }
  url.hash = '';
  // The lengths are checked after the encoding, because the encoding makes names and paths with characters outside of ASCII several times longer.
  if (url.host.length > HOST_LENGTH_MAX || url.href.length > URL_LENGTH_MAX) return UNSUPPORTED;
  return { kind: 'remote', host: url.host, urls: [url.href], isGateway: false };
}

function toIpfs(path: string, { ipfsGateways }: Gateways): ParsedUri {
  return toGateways('ipfs', path, ipfsGateways);
}

/** Rejects a path that leaves the path of the gateway, because the gateway may be a host in the operator's network. */
function toGateways(host: string, path: string, gateways: readonly string[]): ParsedUri {
  const [withoutHash = ''] = path.split('#', 1);
  const urls = gateways.map((gateway) => `${gateway}/${withoutHash}`);
  const isInside = urls.every(
    (url, index) =>
      URL.canParse(url) && new URL(url).href.startsWith(`${new URL(gateways[index] ?? '').href.replace(/\/$/, '')}/`),
  );
  const hasContent = /^[\w-]/.test(withoutHash);
  return urls.length > 0 && isInside && hasContent ? { kind: 'remote', host, urls, isGateway: true } : UNSUPPORTED;
}

function parseDataUri(uri: string): ParsedUri {
  const comma = uri.indexOf(',');
  if (comma < 0) return UNSUPPORTED;
  const [mediaType = '', ...parameters] = uri.slice('data:'.length, comma).split(';');
  const content = uri.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64');
  const body = isBase64 ? Buffer.from(content, 'base64') : Buffer.from(decodePercent(content));
  return toData(mediaType.trim().toLowerCase(), body);
}

function toData(mediaType: string, body: Buffer): ParsedUri {
  return { kind: 'data', host: 'data', mediaType, body };
}

/** Decodes the content of a data URI. If this fails, returns the content as it is, because many contracts do not percent-encode it. */
function decodePercent(content: string): string {
  try {
    return decodeURIComponent(content);
  } catch {
    return content;
  }
}
