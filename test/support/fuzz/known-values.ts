// Collects the names of collections, tokens, wallets and orders from responses. Requests can then name what exists.

import type { Operation } from './document.ts';

export type KnownValues = {
  /** Adds the ids and addresses in a response body. A body that is not JSON adds none. */
  add(text: string): void;
  /** Returns path parameters for each known collection, token, wallet or order. For an operation without path parameters, returns `[{}]`. */
  valuesOf(operation: Operation): Record<string, string>[];
};

type Fields = Record<string, unknown>;
const NAMES_MAX = 500;
/** The offset of the beginning of the stream, which always exists. */
const OFFSETS = new Set(['0']);

export function createKnownValues(): KnownValues {
  const ids = new Set<string>();
  /** Contract addresses by collection id. Items on Solana need them, because these items have a `collectionId` and no `contractAddress`. */
  const addresses = new Map<string, string>();
  const tokens = new Map<string, Record<string, string>>();
  const wallets = new Set<string>();
  const orders = new Set<string>();

  const addNames = (fields: Fields): void => {
    const { id, slug, chain, contractAddress, collectionId, tokenId, mint, seller, orderId } = fields;
    if (typeof seller === 'string' && wallets.size < NAMES_MAX) wallets.add(seller);
    if (typeof orderId === 'string' && orders.size < NAMES_MAX) orders.add(orderId);
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
    if (!Array.isArray(value)) addNames(value as Fields);
    for (const inner of Object.values(value)) walk(inner);
  };

  return {
    add: (text) => walk(parse(text)),
    valuesOf: ({ parameters }) => {
      const names = parameters.filter((one) => one.in === 'path').map((one) => one.name);
      if (names.length === 0) return [{}];
      if (names.length === 1) {
        const [name = ''] = names;
        const values = { address: wallets, orderId: orders, offset: OFFSETS }[name] ?? ids;
        return Array.from(values, (value) => ({ [name]: value }));
      }
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
