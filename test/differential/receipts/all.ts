// The receipts of all protocols, as one chain.

import { tokenStandards } from '../receipt-facts.ts';
import { BLEND_SCENARIOS, BLUR_V1_SCENARIOS, BLUR_V2_SCENARIOS } from './blur.ts';
import {
  ELEMENT_SCENARIOS,
  LOOKSRARE_V1_SCENARIOS,
  LOOKSRARE_V2_SCENARIOS,
  PAYMENT_PROCESSOR_SCENARIOS,
  RARIBLE_V1_SCENARIOS,
  RARIBLE_V2_SCENARIOS,
  WYVERN_SCENARIOS,
  X2Y2_SCENARIOS,
  ZEROEX_SCENARIOS,
} from './exchanges.ts';
import {
  FOUNDATION_SCENARIOS,
  MANIFOLD_SCENARIOS,
  NOUNS_SCENARIOS,
  PUNK_SCENARIOS,
  SUPERRARE_SCENARIOS,
  ZORA_V1_SCENARIOS,
  ZORA_V3_SCENARIOS,
} from './markets.ts';
import { NFTX_SCENARIOS, POOL_CALLS, POOL_CODES, SUDOSWAP_SCENARIOS } from './pools.ts';
import { FORK_SCENARIOS, SEAPORT_SCENARIOS } from './seaport.ts';
import type { Scenario } from './scenario.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...SEAPORT_SCENARIOS,
  ...FORK_SCENARIOS,
  ...BLUR_V1_SCENARIOS,
  ...BLUR_V2_SCENARIOS,
  ...BLEND_SCENARIOS,
  ...LOOKSRARE_V1_SCENARIOS,
  ...LOOKSRARE_V2_SCENARIOS,
  ...X2Y2_SCENARIOS,
  ...WYVERN_SCENARIOS,
  ...RARIBLE_V1_SCENARIOS,
  ...RARIBLE_V2_SCENARIOS,
  ...ZEROEX_SCENARIOS,
  ...ELEMENT_SCENARIOS,
  ...PAYMENT_PROCESSOR_SCENARIOS,
  ...PUNK_SCENARIOS,
  ...FOUNDATION_SCENARIOS,
  ...ZORA_V1_SCENARIOS,
  ...ZORA_V3_SCENARIOS,
  ...SUPERRARE_SCENARIOS,
  ...MANIFOLD_SCENARIOS,
  ...NOUNS_SCENARIOS,
  ...SUDOSWAP_SCENARIOS,
  ...NFTX_SCENARIOS,
];

const RECEIPTS_IN_BLOCK = 8;
const receipts = SCENARIOS.map(({ receipt }) => receipt);

/** The receipts in blocks, and what the endpoint of their chain responds besides. */
export const ENCODED_CHAIN = {
  blocks: Array.from({ length: Math.ceil(receipts.length / RECEIPTS_IN_BLOCK) }, (_, block) =>
    receipts.slice(block * RECEIPTS_IN_BLOCK, (block + 1) * RECEIPTS_IN_BLOCK),
  ),
  codes: POOL_CODES,
  calls: POOL_CALLS,
  /** The token contracts, with the standard of each. */
  contracts: tokenStandards(receipts),
};
