// What a chain says about the tokens of followed collections: owners, sales and movements. A reorganisation replaces blocks; the chain is the blocks that
// are left. Decisions 6, "Kinds of provenance": a followed chain comes before everything that is reported or imported.

/** A transaction moves one token. `price` is in base units; null: no sale. */
type Action = {
  kind: 'mint' | 'transfer' | 'burn' | 'sale';
  collection: string;
  tokenId: number;
  from: string;
  to: string;
  price: bigint | null;
};
type Transaction = { hash: string; action: Action };
export type Blocks = readonly { timeS: number; transactions: readonly Transaction[] }[];

export type ChainSale = { asset: string; price: bigint; seller: string; buyer: string; at: number; tx: string };

/** The owner of each token that was minted and not burned. */
export function ownersOf(blocks: Blocks, contract: string): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { action } of actionsOf(blocks, contract)) {
    if (action.kind === 'burn') owners.delete(String(action.tokenId));
    else owners.set(String(action.tokenId), action.to);
  }
  return owners;
}

export function mintedOf(blocks: Blocks, contract: string): string[] {
  return [...new Set(actionsOf(blocks, contract).map(({ action }) => String(action.tokenId)))];
}

/** Specification, "Sales": newest first. */
export function chainSalesOf(blocks: Blocks, contract: string): ChainSale[] {
  return actionsOf(blocks, contract)
    .flatMap(({ action: { tokenId, price, from, to }, hash, at }) =>
      price === null ? [] : [{ asset: String(tokenId), price, seller: from, buyer: to, at, tx: hash }],
    )
    .toSorted((a, b) => b.at - a.at);
}

function actionsOf(blocks: Blocks, contract: string): { action: Action; hash: string; at: number }[] {
  return blocks.flatMap(({ timeS, transactions }) =>
    transactions
      .filter(({ action }) => action.collection === contract)
      .map(({ action, hash }) => ({ action, hash, at: timeS * 1_000 })),
  );
}
