// The addresses of tokens, transactions and accounts in block explorers and marketplaces. Null where there is no such page.

type Asset = { chain: string; contractAddress: string | null; tokenId: string | null; mint: string | null };
type Explorer = {
  transaction: (tx: string) => string;
  token: (asset: Asset) => string | null;
};

/** Etherscan, and explorers with the same paths. */
function etherscan(origin: string): Explorer {
  return {
    transaction: (tx) => `${origin}/tx/${encodeURIComponent(tx)}`,
    token: ({ contractAddress, tokenId }) =>
      contractAddress === null || tokenId === null ? null : `${origin}/nft/${contractAddress}/${tokenId}`,
  };
}

/** Explorers with the paths of Blockscout. */
function blockscout(origin: string): Explorer {
  return {
    transaction: (tx) => `${origin}/tx/${encodeURIComponent(tx)}`,
    token: ({ contractAddress, tokenId }) =>
      contractAddress === null || tokenId === null ? null : `${origin}/token/${contractAddress}/instance/${tokenId}`,
  };
}

const EXPLORERS: ReadonlyMap<string, Explorer> = new Map([
  [
    'solana',
    {
      transaction: (tx) => `https://solscan.io/tx/${encodeURIComponent(tx)}`,
      token: ({ mint }) => (mint === null ? null : `https://solscan.io/token/${mint}`),
    },
  ],
  ['ethereum', etherscan('https://etherscan.io')],
  ['polygon', etherscan('https://polygonscan.com')],
  ['base', etherscan('https://basescan.org')],
  ['ink', blockscout('https://explorer.inkonchain.com')],
  ['apechain', etherscan('https://apescan.io')],
  ['abstract', etherscan('https://abscan.org')],
]);

export function transactionUrl(chain: string, tx: string): string | null {
  return EXPLORERS.get(chain)?.transaction(tx) ?? null;
}

export function explorerUrl(asset: Asset): string | null {
  return EXPLORERS.get(asset.chain)?.token(asset) ?? null;
}

/** One page for the account on all chains with such addresses. */
export function accountUrl(address: string): string {
  return address.startsWith('0x')
    ? `https://blockscan.com/address/${address}`
    : `https://solscan.io/account/${encodeURIComponent(address)}`;
}

/** The names of chains in the paths of OpenSea, where they differ. */
const OPENSEA_CHAINS: ReadonlyMap<string, string> = new Map([['apechain', 'ape_chain']]);

/** `marketplace` is the name in a listing. */
export function marketplaceUrl(marketplace: string, asset: Asset): string | null {
  const { chain, contractAddress, tokenId, mint } = asset;
  const evm = contractAddress !== null && tokenId !== null ? `${contractAddress}/${tokenId}` : null;
  if (marketplace === 'opensea') {
    const item = evm ?? mint;
    return item === null ? null : `https://opensea.io/item/${OPENSEA_CHAINS.get(chain) ?? chain}/${item}`;
  }
  if (marketplace === 'magic-eden') {
    if (mint !== null) return `https://magiceden.io/item-details/${mint}`;
    return evm === null ? null : `https://magiceden.io/item-details/${chain}/${evm}`;
  }
  if (marketplace === 'blur') return evm === null || chain !== 'ethereum' ? null : `https://blur.io/eth/asset/${evm}`;
  if (marketplace === 'tensor') return mint === null ? null : `https://www.tensor.trade/item/${mint}`;
  return null;
}
