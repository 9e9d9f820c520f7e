// Finds the URL from which the browser loads a picture. Browsers cannot open the URLs of IPFS and Arweave, so the pictures come from gateways.

/** The URLs of the gateways, by the scheme that they serve: `ipfs` or `ar`. */
export type Gateways = ReadonlyMap<string, string>;

/** Parses the gateways that the service has written into the page, as `ipfs=URL ar=URL`. */
export function parseGateways(text: string): Gateways {
  const parts = text.split(' ').filter((part) => part !== '');
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
}

/** The URL of an image that the service itself serves. */
const OWN_IMAGE = /\/(explore\/v1\/images\/[^/?#]+\/[^/?#]+)$/;

/**
 * Null if the URL has a scheme for which there is no gateway. An image of the service is loaded from where the page comes from, because the service may
 * not know the address at which this browser reaches it.
 */
export function toPictureUrl(url: string, gateways: Gateways): string | null {
  const [, scheme, rest = ''] = /^(ipfs|ar):\/*(.*)$/is.exec(url) ?? [];
  if (scheme === undefined) return OWN_IMAGE.exec(url)?.[1] ?? url;
  const gateway = gateways.get(scheme.toLowerCase());
  // Some records repeat the name of the scheme: ipfs://ipfs/Qm….
  return gateway === undefined ? null : `${gateway}/${rest.replace(/^ipfs\//i, '')}`;
}
