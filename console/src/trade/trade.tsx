// Trading on the page of a token. The panel is loaded and displayed only if the browser has a wallet and the service offers trading on the
// token's chain.

import { useQuery } from '@tanstack/preact-query';
import type { Token } from '../../../client/src/market.ts';
import { statusQuery } from '../data/status-query.ts';
import { lazyPart } from '../shell/lazy-page.tsx';
import { useWallets } from './wallets.ts';

const TradePanel = lazyPart(async () => (await import('./trade-panel.tsx')).TradePanel);

export function Trade({ token }: { token: Token }) {
  const wallets = useWallets();
  const { contractAddress, tokenId } = token;
  const isTradable = wallets.length > 0 && contractAddress !== null && tokenId !== null;
  const { data } = useQuery({ ...statusQuery, enabled: isTradable, refetchInterval: false, staleTime: Infinity });
  const chain = data?.trading?.find((one) => one.chain === token.chain);
  if (!isTradable || !chain) return null;
  return (
    <TradePanel key={`${token.chain} ${contractAddress} ${tokenId}`} token={token} chain={chain} wallets={wallets} />
  );
}
