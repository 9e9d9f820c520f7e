// Events in blocks change the evidence of orders. This file finds which evidence the events of applied or reverted blocks have changed.
// Orders and mirrored listings that depend on this evidence are then evaluated again.

import { toCollectionId } from '../../platform/core/collection.ts';
import type { LoggedEvent } from './chain-event.ts';

/** The evidence that changed on one chain because blocks were applied or reverted. */
export type EvidenceChanges = {
  chain: string;
  /** Orders that were filled, cancelled or validated. */
  orderHashes: ReadonlySet<string>;
  /** Tokens that were transferred, or whose approval changed. */
  tokens: readonly { collectionId: string; tokenId: string }[];
  /** Accounts whose approvals for all tokens of a collection changed. */
  owners: readonly { collectionId: string; owner: string }[];
  /** Accounts whose counter changed, or who cancelled the orders of a nonce. */
  offerers: ReadonlySet<string>;
};

export function toEvidenceChanges(chain: string, events: readonly LoggedEvent[]): EvidenceChanges {
  const orderHashes = new Set<string>();
  const offerers = new Set<string>();
  const tokens = new Map<string, EvidenceChanges['tokens'][number]>();
  const owners = new Map<string, EvidenceChanges['owners'][number]>();
  for (const event of events) {
    if ('orderHash' in event) orderHashes.add(event.orderHash);
    else if ('offerer' in event) offerers.add(event.offerer);
    else if ('contract' in event) {
      const collectionId = toCollectionId(chain, event.contract);
      if (event.kind === 'approval-for-all') {
        owners.set(`${collectionId} ${event.owner}`, { collectionId, owner: event.owner });
      } else tokens.set(`${collectionId} ${event.tokenId}`, { collectionId, tokenId: event.tokenId });
    }
  }
  return { chain, orderHashes, offerers, tokens: [...tokens.values()], owners: [...owners.values()] };
}

/** Joins changes of the same chain. */
export function joinEvidenceChanges(chain: string, changes: readonly EvidenceChanges[]): EvidenceChanges {
  return {
    chain,
    orderHashes: new Set(changes.flatMap(({ orderHashes }) => [...orderHashes])),
    tokens: changes.flatMap(({ tokens }) => tokens),
    owners: changes.flatMap(({ owners }) => owners),
    offerers: new Set(changes.flatMap(({ offerers }) => [...offerers])),
  };
}
