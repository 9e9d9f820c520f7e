// The addresses of tokens, transactions and accounts in block explorers and marketplaces, and the names of marketplaces. An address is null where there is no such page.

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

type Marketplace = { name: string; url?: (asset: Asset, evm: string | null) => string | null };

/** The marketplaces by their slugs in records. `evm` is the path of a token of an EVM chain. */
const MARKETPLACES: ReadonlyMap<string, Marketplace> = new Map<string, Marketplace>([
  ['MERCAT', { name: 'Mercat' }],
  [
    'opensea',
    {
      name: 'OpenSea',
      url: ({ chain, mint }, evm) => {
        const item = evm ?? mint;
        return item === null ? null : `https://opensea.io/item/${OPENSEA_CHAINS.get(chain) ?? chain}/${item}`;
      },
    },
  ],
  [
    'magic-eden',
    {
      name: 'Magic Eden',
      url: ({ chain, mint }, evm) => {
        if (mint !== null) return `https://magiceden.io/item-details/${mint}`;
        return evm === null ? null : `https://magiceden.io/item-details/${chain}/${evm}`;
      },
    },
  ],
  [
    'blur',
    {
      name: 'Blur',
      url: ({ chain }, evm) => (evm === null || chain !== 'ethereum' ? null : `https://blur.io/eth/asset/${evm}`),
    },
  ],
  ['tensor', { name: 'Tensor', url: ({ mint }) => (mint === null ? null : `https://www.tensor.trade/item/${mint}`) }],
  ['looksrare', { name: 'LooksRare' }],
  ['rarible', { name: 'Rarible' }],
  ['sudoswap', { name: 'Sudoswap' }],
  ['x2y2', { name: 'X2Y2' }],
]);

/** The name of a marketplace whose slug is in a record. A marketplace that the console does not know is named by its slug. */
export function marketplaceName(slug: string): string {
  return MARKETPLACES.get(slug)?.name ?? slug;
}

/** The page of the token at the marketplace. */
export function marketplaceUrl(slug: string, asset: Asset): string | null {
  const { contractAddress, tokenId } = asset;
  const evm = contractAddress !== null && tokenId !== null ? `${contractAddress}/${tokenId}` : null;
  return MARKETPLACES.get(slug)?.url?.(asset, evm) ?? null;
}
