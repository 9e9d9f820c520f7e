// Names the collections and tokens in the recorded responses. Makes the functions that read these collections and tokens from every source.

import { parseAddress } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { OpenSeaCollection } from '../../../src/sources/upstreams/opensea/names.ts';
import { createSources } from '../replay/wrong-response.ts';

export const FAMOUS_FOX = 'BUjZjAS2vbbb65g7Z1Ca9ZRVYoJscURG5L3AkVvHP9ac';
export const DEGODS = '6XxjKYFbcndh2gDcsUrmZgVEsoDxXMnfsaGY6fpTJzNr';
/** The contract of the ask in the recorded response of Magic Eden's older API. */
export const ASKED = '0x8132176f60e9db5288d84feeefae455c8caa3f95';
export const GHOSTS = toGhosts();

export const RECORDED_SOURCES = createSources({
  opensea: GHOSTS,
  openseaToken: '5333',
  solana: DEGODS,
  // The token of the example response in Magic Eden's documentation.
  mint: '4uvpqEL73361hRXCrHqBZQWeqfbKPQw55yKSFZvLQYTq',
  das: FAMOUS_FOX,
  asks: ASKED,
});

function toGhosts(): OpenSeaCollection {
  const chain = createChains().get('ethereum');
  const contractAddress = parseAddress('evm', '0x9401518f4ebba857baa879d9f76e1cc8b31ed197');
  if (!chain || contractAddress === null) throw new Error('there is no such collection');
  return { slug: 'the-weirdo-ghost-gang', chain, contractAddress };
}
