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

/** A Solana asset is named by its mint alone; its collection stands in the place of the contract. */
export function tokenPath({ chain, collectionId, contractAddress, tokenId, mint }: Asset): string {
  return ['/t', chain, contractAddress ?? collectionId, mint ?? tokenId ?? ''].map(encodePart).join('/');
}

function encodePart(part: string, index: number): string {
  return index === 0 ? part : encodeURIComponent(part);
}
