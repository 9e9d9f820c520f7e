// Decodes the rows of the activity log.

import {
  amount,
  assetId,
  column,
  integer,
  knownAccount,
  list,
  nullable,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import { bundledTokens } from './bundled-tokens.ts';
import { ACTIVITY_KINDS } from '../market-change.ts';

/** The columns that `decodeActivity` reads. */
export const ACTIVITY_COLUMNS = `(select epoch from main.activity_head) as epoch, position, kind, at, chain, collection_id, asset, price_raw, from_account, to_account, order_id, marketplace, tx,
  reason, to_json(voids) as voids, voided_by, block_number, log_index, quantity, payment, tokens, to_json(reorg_ids) as reorg_ids, origin, fact`;

export const decodeActivity = rowDecoder('activity', {
  epoch: text,
  position: safeInteger,
  kind: oneOf(ACTIVITY_KINDS),
  at: timestamp,
  chain: text,
  collectionId: column('collection_id', nullable(text)),
  asset: nullable(assetId),
  priceRaw: column('price_raw', nullable(amount)),
  from: column('from_account', knownAccount),
  to: column('to_account', knownAccount),
  orderId: column('order_id', nullable(text)),
  marketplace: nullable(text),
  tx: nullable(text),
  reason: nullable(text),
  voids: nullable(list(safeInteger)),
  voidedBy: column('voided_by', nullable(safeInteger)),
  block: column('block_number', nullable(safeInteger)),
  logIndex: column('log_index', nullable(integer)),
  quantity: nullable(amount),
  payment: nullable(text),
  tokens: nullable(bundledTokens),
  /** The collections of the changes that a `reorg` takes back. */
  reorgIds: column('reorg_ids', nullable(list(text))),
  origin: oneOf(['main', 'indexer']),
  fact: nullable(text),
});

/**
 * `epoch` and `position`: published as the offset. `asset` is null unless the change concerns exactly one token. For a change of an own order,
 * `marketplace` is null and `origin` is `main`; a bid that a marketplace has reported has this `marketplace`. `voids`: the positions that a `reorg` takes back. `voidedBy`: the position of the `reorg`
 * that took this change back.
 */
export type ActivityRow = ReturnType<typeof decodeActivity>;
