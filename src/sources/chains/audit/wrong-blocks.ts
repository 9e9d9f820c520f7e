// Finds the blocks whose stored events make audited tokens differ from their chain, and notes that these blocks must be read again
// (../reread.ts). The second read corrects the stored events and everything that was derived from them.

import { insertReread } from '../../../market/chain-log/queries/reread-ranges.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import type { Follow } from '../../../market/follows/queries/follows.ts';
import type { ChainContext } from '../context.ts';
import type { ComparisonResult } from './compare.ts';
import type { StoredTransfer, TokenKey } from './queries/audited.ts';
import { listStoredTransfers } from './queries/audited.ts';
import { HOLDERS_FIELD, NOBODY } from './tokens.ts';

/** Both ends are inclusive. */
type Blocks = { from: number; to: number };

export type WrongBlocks = Blocks & { collectionId: string };

/** The blocks that explain the differences of the tokens. A token of which only the served owner differs is not explained by any block. */
export async function listWrongBlocks(
  main: Queryable,
  { differences }: Pick<ComparisonResult, 'differences'>,
  { follows, toToken }: { follows: readonly Follow[]; toToken: (key: string) => TokenKey },
): Promise<WrongBlocks[]> {
  const byCollection = new Map<string, Blocks[]>();
  for (const [key, { block, findings }] of differences) {
    const { collectionId, tokenId } = toToken(key);
    const follow = follows.find((one) => one.collectionId === collectionId);
    if (!follow || follow.fromBlock === null || block === null) continue;
    const read = { from: follow.fromBlock, to: block };
    const holders = findings.find(({ field }) => field === HOLDERS_FIELD);
    const stored = holders ? await listStoredTransfers(main, follow, tokenId) : [];
    // Units of ERC-1155 are counted in balances, which do not show the transfer that is wrong.
    const found =
      follow.standard === 'erc1155' ? [read] : holders ? findContradictions(stored, read, holders.theirs) : [];
    byCollection.set(collectionId, [...(byCollection.get(collectionId) ?? []), ...found]);
  }
  return [...byCollection].flatMap(([collectionId, found]) =>
    joinBlocks(found).map((blocks) => ({ collectionId, ...blocks })),
  );
}

/**
 * The blocks in which an event of an ERC-721 token must be wrong or missing: those between two transfers of which the second has another
 * sender than the receiver of the first, and those after the last transfer if the token has another owner. The blocks of these transfers are
 * included. The sender of the first transfer shows nothing, because the blocks before `read.from` were not read. `owner`: the owner on the chain, or NOBODY.
 */
export function findContradictions(transfers: readonly StoredTransfer[], read: Blocks, owner: string): Blocks[] {
  const found = transfers.flatMap(({ from, block }, index) => {
    const before = transfers[index - 1];
    return before && before.to !== from ? [{ from: before.block, to: block }] : [];
  });
  const last = transfers.at(-1);
  const holder = !last || last.to === ZERO_ADDRESS ? NOBODY : last.to;
  return holder === owner ? found : [...found, { from: last?.block ?? read.from, to: read.to }];
}

function joinBlocks(ranges: readonly Blocks[]): Blocks[] {
  const joined: Blocks[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && range.from <= last.to) last.to = Math.max(last.to, range.to);
    else joined.push({ ...range });
  }
  return joined;
}

export async function noteWrongBlocks(
  { main, clock, log }: Pick<ChainContext, 'main' | 'clock' | 'log'>,
  chain: string,
  wrong: readonly WrongBlocks[],
): Promise<void> {
  for (const { collectionId, from, to } of wrong) {
    await insertReread(main, chain, { from, to }, clock());
    log.warn('tokens differ from the chain, and the blocks that explain it are read again', { collectionId, from, to });
  }
}
