// Names of collections and tokens found in responses, so that requests can name what exists.

import type { Operation } from './document.ts';

export type KnownValues = {
  /** Collects the names in a response body. */
  add(text: string): void;
  /** Path parameters of the operation that name something; one empty set for an operation without any. */
  valuesOf(operation: Operation): Record<string, string>[];
};

type Told = Record<string, unknown>;
const NAMES_MAX = 500;

export function createKnownValues(): KnownValues {
  const ids = new Set<string>();
  /** By collection id: an item on Solana does not repeat the address of its collection. */
  const addresses = new Map<string, string>();
  const tokens = new Map<string, Record<string, string>>();

  const take = (told: Told): void => {
    const { id, slug, chain, contractAddress, collectionId, tokenId, mint } = told;
    if (typeof id === 'string') {
      for (const name of [id, slug, contractAddress])
        if (typeof name === 'string' && ids.size < NAMES_MAX) ids.add(name);
      if (typeof contractAddress === 'string') addresses.set(id, contractAddress);
    }
    const asset = tokenId ?? mint;
    const address = contractAddress ?? addresses.get(String(collectionId));
    if (typeof asset !== 'string' || typeof address !== 'string' || typeof chain !== 'string') return;
    if (tokens.size < NAMES_MAX) tokens.set(`${chain} ${address} ${asset}`, { chain, address, tokenId: asset });
  };

  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) take(value as Told);
    for (const inner of Object.values(value)) walk(inner);
  };

  return {
    add: (text) => walk(parse(text)),
    valuesOf: ({ parameters }) => {
      const names = parameters.filter((one) => one.in === 'path').map((one) => one.name);
      if (names.length === 0) return [{}];
      if (names.length === 1) return Array.from(ids, (id) => ({ [names[0] ?? '']: id }));
      return [...tokens.values()];
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
