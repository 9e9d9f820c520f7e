// The wrapped form of each chain's native currency, which counts as native one to one. Anything else that is paid with is
// another currency and has no place in a floor.

import type { Address } from './address.ts';
import type { Chain } from './chains.ts';

const WRAPPED: Readonly<Record<string, string>> = {
  ethereum: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  polygon: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  base: '0x4200000000000000000000000000000000000006',
  ink: '0x4200000000000000000000000000000000000006',
  apechain: '0x48b62137edfa95a428d35c09e44256a739f6b557',
  abstract: '0x3439153eb7af838ad19d56e1571fbd09333c2809',
  solana: 'So11111111111111111111111111111111111111112',
};

/** The contract (on Solana the mint) of a chain's wrapped native currency; null where none is known. */
export function findWrappedNative(chain: Chain): Address | null {
  return (WRAPPED[chain.id] as Address | undefined) ?? null;
}
