// The paths of the pages of the market.

type Asset = {
  chain: string;
  collectionId: string;
  contractAddress: string | null;
  tokenId: string | null;
  mint: string | null;
};

export function collectionPath({ id, slug }: { id: string; slug: string | null }): string {
  return `/c/${encodeURIComponent(slug ?? id)}`;
}

export function walletPath(address: string): string {
  return `/w/${encodeURIComponent(address)}`;
}

export function orderPath(orderId: string): string {
  return `/o/${encodeURIComponent(orderId)}`;
}

/** Rows on Solana, and some other rows, have no contract address. Their path contains the id of the collection instead. */
export function tokenPath({ chain, collectionId, contractAddress, tokenId, mint }: Asset): string {
  return ['/t', chain, contractAddress ?? collectionId, mint ?? tokenId ?? ''].map(encodePart).join('/');
}

function encodePart(part: string, index: number): string {
  return index === 0 ? part : encodeURIComponent(part);
}
