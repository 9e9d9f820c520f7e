// The icon and the name of a chain. Icons have the colour of the text, so that they do not draw attention from the pictures.

import type { ComponentChildren } from 'preact';
import './chain-mark.css';

type ChainLook = { name: string; currency: string; sign: ComponentChildren };

const LOOKS: Readonly<Record<string, ChainLook>> = {
  solana: {
    name: 'Solana',
    currency: 'SOL',
    sign: <path d="M4.5 4.5h8l-1.5 2h-8zM3.5 9.5h8l1.5 2h-8z" fill="currentColor" stroke="none" />,
  },
  ethereum: { name: 'Ethereum', currency: 'ETH', sign: <path d="m8 2 4 6-4 6-4-6zM4.5 8.25 8 10l3.5-1.75" /> },
  polygon: { name: 'Polygon', currency: 'POL', sign: <path d="m8 2 5 3v6l-5 3-5-3V5z" /> },
  base: { name: 'Base', currency: 'ETH', sign: <path d="M2.6 8H9M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0Z" /> },
  ink: { name: 'Ink', currency: 'ETH', sign: <path d="M8 2c2.5 3 4 5 4 7a4 4 0 0 1-8 0c0-2 1.5-4 4-7Z" /> },
  apechain: { name: 'ApeChain', currency: 'APE', sign: <path d="M3 13 8 3l5 10M5.25 9.5h5.5" /> },
  abstract: { name: 'Abstract', currency: 'ETH', sign: <path d="M8 2.5v11M3.25 5.25l9.5 5.5M12.75 5.25l-9.5 5.5" /> },
};

/** A map, because a chain of the URL can have the name of a property of every object. */
const CHAINS = new Map(Object.entries(LOOKS));

export const CHAIN_IDS: readonly string[] = [...CHAINS.keys()];

/** The name of a chain. A chain that is not built in has its id as its name. */
export function chainName(chain: string): string {
  return CHAINS.get(chain)?.name ?? chain;
}

/** The symbol of the native currency. Empty for a chain that is not built in. */
export function currencyOfChain(chain: string | null): string {
  return CHAINS.get(chain ?? '')?.currency ?? '';
}

export function ChainMark({ chain, isShort = false }: { chain: string; isShort?: boolean }) {
  const name = chainName(chain);
  return (
    <span class="chain" {...(isShort && { 'data-tip': name })}>
      <svg
        class="icon"
        viewBox="0 0 16 16"
        width="16"
        height="16"
        fill="none"
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linejoin="round"
        stroke-linecap="round"
        aria-hidden="true"
      >
        {CHAINS.get(chain)?.sign ?? <circle cx="8" cy="8" r="5" />}
      </svg>
      <span class={isShort ? 'visually-hidden' : undefined}>{name}</span>
    </span>
  );
}
