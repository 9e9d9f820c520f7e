// What a chain says about the tokens of followed collections: owners, sales and movements. A reorganisation replaces blocks; the chain is the blocks that
// are left. Decisions 6, "Kinds of provenance": a followed chain comes before everything that is reported or imported.

/** A transaction moves one token. `price` is in base units; null: no sale. */
type Action = {
  kind: 'mint' | 'transfer' | 'burn' | 'sale' | 'other';
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

/** What the chain says about an order at its newest block. `endedAt`: when it was cancelled, its counter was raised, or the wanted token was burned. */
export type OrderFacts = { filled: bigint; endedAt: number | null; isCovered: boolean };

/** An order as it was signed, and whether it was cancelled off-chain. */
type SignedOrder = { quantity: bigint; expiresAt: number | null; isClosed: boolean };

export type Standing = 'active' | 'dormant' | 'filled' | 'cancelled' | 'expired';

/**
 * Orders, "The status of an order", the table. "A complete fill decides, because the token has been sold. Without a complete fill, the earliest reason decides." A dormant order
 * "is active but cannot be filled now".
 */
export function standingOf({ quantity, expiresAt, isClosed }: SignedOrder, facts: OrderFacts, now: number): Standing {
  if (facts.filled >= quantity) return 'filled';
  const isExpired = expiresAt !== null && expiresAt <= now;
  const isEnded = facts.endedAt !== null && (expiresAt === null || facts.endedAt < expiresAt);
  if (isEnded || isClosed) return 'cancelled';
  if (isExpired) return 'expired';
  return facts.isCovered ? 'active' : 'dormant';
}

/** Orders, "The funds of a bidder": "a fill needs the price of one unit of a bid that can be filled in parts, and the whole amount of any other bid". */
export function isFunded(
  { priceRaw, quantity, isPartial }: { priceRaw: bigint; quantity: bigint; isPartial: boolean },
  { balance, allowance }: { balance: bigint; allowance: bigint },
): boolean {
  const needed = isPartial ? priceRaw : priceRaw * quantity;
  return balance >= needed && allowance >= needed;
}
