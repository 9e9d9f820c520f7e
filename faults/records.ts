// Makes the marketplace records that the fault tests import: one collection, and its listings and tokens.

const ADDRESS = '0x00000000000000000000000000000000000fa017';
const PLACE = { chain: 'ethereum', contractAddress: ADDRESS };
const SELLER = '0x00000000000000000000000000000000000000b1';

export const SUBJECT = {
  slug: 'under-load',
  address: ADDRESS,
  record: { kind: 'collection', ...PLACE, slug: 'under-load', name: 'Under load' },
} as const;

export function toToken(tokenId: string, name: string): object {
  return { kind: 'token', ...PLACE, tokenId, name };
}

/** A listing of the token at another marketplace. `priceRaw` is in wei. */
export function toListing(tokenId: string, priceRaw: bigint): object {
  return {
    kind: 'listing',
    source: 'opensea',
    ...PLACE,
    tokenId,
    priceRaw: String(priceRaw),
    seller: SELLER,
    id: `listing-${tokenId}`,
    timestamp: new Date().toISOString(),
  };
}

export function toNdjson(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
