// Compares what the service has stored of a simulated chain with what happened on the chain.

import { ZERO_ADDRESS } from '../../../../src/platform/core/evm.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import type { FakeAction, FakeChain } from './fake-chain.ts';
import { toOwners } from './fake-chain.ts';
import { COLLECTIONS } from './fake-logs.ts';

type Compared = { compared: Record<string, number>; wrong: string[] };

/** How many differences of one kind are named. */
const NAMED_MAX = 10;
const NOBODY = 'nobody';

export async function compareWithChain(db: Database, chain: FakeChain): Promise<Compared> {
  const idOf = (collection: string) => `ethereum_${collection}`;
  const actions = chain.blocks.flatMap(({ number, timeS, transactions }) =>
    transactions.map(({ action, hash }) => ({ ...action, number, timeS, tx: hash })),
  );
  const owners = [...toOwners(chain.blocks)].flatMap(([collection, tokens]) =>
    [...tokens].map(([tokenId, owner]) => ({ collection, tokenId, owner })),
  );
  const sales = actions.filter((action) => action.price !== null);
  const readTo = new Map(
    (await db.query(`select contract_address, read_to_block from main.follow`)).map((row) => [
      row['contract_address'],
      Number(row['read_to_block']),
    ]),
  );
  const textOf = async (sql: string) => (await db.query(sql)).map((row) => Object.values(row).map(String).join(' '));
  const results: Record<string, Differences> = {
    owners: differ(
      await textOf(`select collection_id, asset, coalesce(owner, '${NOBODY}'), burned from indexer.token`),
      owners.map(({ collection, tokenId, owner }) =>
        [idOf(collection), tokenId, owner ?? NOBODY, owner === null].join(' '),
      ),
    ),
    holdings: differ(
      await textOf(`select collection_id, token_id, holder, quantity from main.holding`),
      owners.flatMap(({ collection, tokenId, owner }) =>
        owner === null ? [] : [[idOf(collection), tokenId, owner, 1].join(' ')],
      ),
    ),
    sales: differ(
      await textOf(
        `select collection_id, asset, tx, price_raw, seller, buyer, extract(epoch from sold_at)::bigint as s, source from indexer.sale`,
      ),
      sales.map(({ collection, tokenId, tx, price, from, to, timeS }) =>
        [idOf(collection), tokenId, tx, price, from, to, timeS, 'opensea'].join(' '),
      ),
    ),
    volume: differ(
      await textOf(`select collection_id, volume_raw, sales from indexer.sale_total where sales > 0`),
      COLLECTIONS.flatMap((collection) => {
        const ofCollection = sales.filter((sale) => sale.collection === collection);
        const volume = ofCollection.reduce((sum, { price }) => sum + (price ?? 0n), 0n);
        return ofCollection.length === 0 ? [] : [[idOf(collection), volume, ofCollection.length].join(' ')];
      }),
    ),
    figures: differ(
      await textOf(`select collection_id, chain_tokens, holders from indexer.collection_figures`),
      COLLECTIONS.map((collection) => {
        const held = owners.filter((token) => token.collection === collection && token.owner !== null);
        return [idOf(collection), held.length, new Set(held.map(({ owner }) => owner)).size].join(' ');
      }),
    ),
    activity: differ(
      await textOf(
        `select kind, collection_id, asset, tx, coalesce(from_account, '${NOBODY}') as sender,
           coalesce(to_account, '${NOBODY}') as receiver, coalesce(price_raw, 0) as price
         from main.activity join main.follow using (collection_id)
         where voided_by is null and kind in ('mint', 'transfer', 'burn', 'sale') and block_number > read_to_block`,
      ),
      actions
        .filter(({ collection, number }) => number > (readTo.get(collection) ?? 0))
        .flatMap((action) =>
          toActivity(action).map((change) =>
            [
              change.kind,
              idOf(action.collection),
              action.tokenId,
              action.tx,
              change.from,
              change.to,
              change.price,
            ].join(' '),
          ),
        ),
    ),
  };
  return {
    compared: Object.fromEntries(Object.entries(results).map(([name, { expected }]) => [name, expected])),
    wrong: Object.entries(results).flatMap(([name, { missing, extra }]) => [
      ...toLines(`${name}: missing`, missing),
      ...toLines(`${name}: extra`, extra),
    ]),
  };
}

function toActivity({
  kind,
  from,
  to,
  price,
}: FakeAction): { kind: string; from: string; to: string; price: bigint }[] {
  const nameOf = (account: string) => (account === ZERO_ADDRESS ? NOBODY : account);
  const moved = { from: nameOf(from), to: nameOf(to), price: 0n };
  if (price === null) return [{ kind, ...moved }];
  return [
    { kind: 'transfer', ...moved },
    { kind: 'sale', ...moved, price },
  ];
}

type Differences = { expected: number; missing: string[]; extra: string[] };

function differ(stored: readonly string[], expected: readonly string[]): Differences {
  const counts = new Map<string, number>();
  for (const row of stored) counts.set(row, (counts.get(row) ?? 0) + 1);
  for (const row of expected) counts.set(row, (counts.get(row) ?? 0) - 1);
  const rows = [...counts];
  return {
    expected: expected.length,
    missing: rows.flatMap(([row, count]) => (count < 0 ? [row] : [])),
    extra: rows.flatMap(([row, count]) => (count > 0 ? [row] : [])),
  };
}

function toLines(what: string, rows: readonly string[]): string[] {
  const more = rows.length > NAMED_MAX ? [`${what}: ${rows.length - NAMED_MAX} more`] : [];
  return [...rows.slice(0, NAMED_MAX).map((row) => `${what}: ${row}`), ...more];
}
