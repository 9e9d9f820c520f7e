// Finds the wallets in the visitor's browser (EIP-1193). This file is small, because every token page loads it.

import { useEffect } from 'preact/hooks';
import { Store, useStore } from '../shell/store.ts';

type Listener = (value: unknown) => void;

export type WalletProvider = {
  request(request: { method: string; params?: readonly unknown[] }): Promise<unknown>;
  on?(event: string, listener: Listener): unknown;
  removeListener?(event: string, listener: Listener): unknown;
};

export type Wallet = { id: string; name: string; provider: WalletProvider };

/** EIP-6963: wallets announce themselves with this event. */
const ANNOUNCEMENT = 'eip6963:announceProvider';
const REQUEST = 'eip6963:requestProvider';
const INJECTED_ID = 'injected';

const wallets = new Store<readonly Wallet[]>([]);
let isListening = false;

/** The wallets that have been found so far. */
export function useWallets(): readonly Wallet[] {
  useEffect(findWallets, []);
  return useStore(wallets);
}

function findWallets(): void {
  if (isListening) return;
  isListening = true;
  window.addEventListener(ANNOUNCEMENT, (event) => {
    const { info, provider } = (
      event as CustomEvent<{ info: { uuid: string; name: string }; provider: WalletProvider }>
    ).detail;
    add({ id: info.uuid, name: info.name, provider });
  });
  window.dispatchEvent(new Event(REQUEST));
  const { ethereum } = window as { ethereum?: WalletProvider };
  // A wallet that announces itself may also set the older property `window.ethereum`. Such a wallet must not be added twice.
  if (ethereum && wallets.get().length === 0) add({ id: INJECTED_ID, name: '', provider: ethereum });
}

function add(wallet: Wallet): void {
  const others = wallets.get().filter(({ id }) => id !== wallet.id && id !== INJECTED_ID);
  wallets.set([...others, wallet]);
}
