// Reads how many units of tokens an account holds, by the log of the followed chains. Primary database. While the backfill of a collection is not
// complete, its holdings are not complete either, and are left out.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { amount, assetId, column, rowDecoder, text } from '../../../platform/database/rows.ts';
import type { WalletQuery } from './wallet-assets.ts';
import { ofEachChain, toStarts } from './wallet-assets.ts';

export type HeldUnits = { collectionId: string; asset: AssetId; units: bigint };

const decodeHeld = rowDecoder('holding', {
  collectionId: column('collection_id', text),
  asset: column('token_id', assetId),
  units: column('quantity', amount),
});

const IS_COMPLETE = `quantity > 0 and exists (select from main.follow where follow.collection_id = holding.collection_id and joined)`;

/** The tokens of which the account holds units, sorted by collection and token. */
export async function listUnitsOfWallet(db: Queryable, query: WalletQuery): Promise<HeldUnits[]> {
  if (query.chains.length === 0) return [];
  const held = ofEachChain('main.holding', {
    columns: 'holder, collection_id, token_id',
    condition: IS_COMPLETE,
    chains: query.chains,
  });
  const rows = await db.query(
    `select stored.* from ${held} cross join lateral (
       select collection_id, token_id, quantity from main.holding
       where collection_id = key.collection_id and token_id = key.token_id and holder = $1 limit 1
     ) as stored order by collection_id, token_id limit $5`,
    [query.account, ...toStarts(query), query.limit],
  );
  return rows.map(decodeHeld);
}

/** At most `limit` tokens of a collection of which the account holds units. */
export async function listHeldUnitsIn(
  db: Queryable,
  collectionId: string,
  { account, limit }: { account: string; limit: number },
): Promise<HeldUnits[]> {
  const rows = await db.query(
    `select collection_id, token_id, quantity from main.holding
     where holder = $1 and collection_id = $2 and ${IS_COMPLETE} limit $3`,
    [account, collectionId, limit],
  );
  return rows.map(decodeHeld);
}

export type TokenHolder = { holder: string; units: bigint };

const decodeHolder = rowDecoder('holding', { holder: text, units: column('quantity', amount) });
const decodeJoined = rowDecoder('follow', { collectionId: column('collection_id', text) });

/** The holders of a token after the account `after`, sorted by account. Null if the holders of its collection are not read from a chain. */
export async function listTokenHolders(
  db: Queryable,
  { collectionId, asset }: { collectionId: string; asset: string },
  { after, limit }: { after: string; limit: number },
): Promise<TokenHolder[] | null> {
  const joined = await db.query(`select collection_id from main.follow where collection_id = $1 and joined`, [
    collectionId,
  ]);
  if (joined.map(decodeJoined).length === 0) return null;
  const rows = await db.query(
    `select holder, quantity from main.holding where collection_id = $1 and token_id = $2 and holder > $3 and quantity > 0
     order by holder limit $4`,
    [collectionId, asset, after, limit],
  );
  return rows.map(decodeHolder);
}
