// Connects to a wallet of the user of the console, and checks whether this wallet is on the chain of a token.

import { queryOptions } from '@tanstack/preact-query';
import type { Address } from 'viem';
import { queries } from '../data/client.ts';
import type { TradingChain } from '../data/service-state.ts';
import { Store } from '../shell/store.ts';
import type { Wallet, WalletProvider } from './wallets.ts';

export type Connection = { wallet: Wallet; account: Address };

/** `other-network`: a chain with the same id, but with another first block. */
export type Network = 'right' | 'other-chain' | 'other-network';

/** The first element of the query key of everything that is read through a wallet. */
export const WALLET = 'wallet';

export const connection = new Store<Connection | null>(null);
const followed = new WeakSet<WalletProvider>();

/** Connects to a wallet. The wallet asks the user for permission. Rejects if the user refuses. */
export async function connect(wallet: Wallet): Promise<void> {
  follow(wallet, (await wallet.provider.request({ method: 'eth_requestAccounts' })) as Address[]);
}

/** Connects to the first wallet that already allows the console to see an account. The user is not asked. */
export async function connectAgain(wallets: readonly Wallet[]): Promise<void> {
  for (const wallet of wallets) {
    const accounts = (await wallet.provider.request({ method: 'eth_accounts' }).catch(() => [])) as Address[];
    if (connection.get() !== null) return;
    if (accounts.length > 0) follow(wallet, accounts);
  }
}

function follow(wallet: Wallet, accounts: readonly Address[]): void {
  const { provider } = wallet;
  const setAccount = ([account]: readonly Address[]) => {
    connection.set(account === undefined ? null : { wallet, account: account.toLowerCase() as Address });
    void queries.invalidateQueries({ queryKey: [WALLET] });
  };
  setAccount(accounts);
  if (followed.has(provider)) return;
  followed.add(provider);
  provider.on?.('accountsChanged', (changed) => {
    if (connection.get()?.wallet.provider === provider) setAccount(changed as Address[]);
  });
  provider.on?.('chainChanged', () => void queries.invalidateQueries({ queryKey: [WALLET] }));
}

export const networkQuery = ({ wallet, account }: Connection, chain: TradingChain) =>
  queryOptions({
    queryKey: [WALLET, 'network', wallet.id, account, chain.chain],
    queryFn: () => readNetwork(wallet.provider, chain),
    staleTime: 0,
  });

/** The first block is compared too, because a local chain can have the id of a real one. */
export async function readNetwork(provider: WalletProvider, chain: TradingChain): Promise<Network> {
  const chainId = await provider.request({ method: 'eth_chainId' });
  if (Number(chainId) !== chain.chainId) return 'other-chain';
  const block = await provider.request({ method: 'eth_getBlockByNumber', params: ['0x0', false] });
  return (block as { hash?: string } | null)?.hash === chain.firstBlock ? 'right' : 'other-network';
}

/** Asks the wallet to switch to the chain. The wallet asks the user for permission. */
export async function switchChain({ wallet }: Connection, { chainId }: TradingChain): Promise<void> {
  const params = [{ chainId: `0x${chainId.toString(16)}` }];
  await wallet.provider.request({ method: 'wallet_switchEthereumChain', params });
  await queries.invalidateQueries({ queryKey: [WALLET] });
}
