// Measures how long it takes to rank the tokens of a collection of 100,000 tokens with 10 traits each.
// `BENCH_SCALE` (default 1) scales the collection.

import type { Database } from '../../src/platform/database/port.ts';
import { rankTokens } from '../../src/market/reads/token-ranking.ts';
import { measureCpuMs } from '../../test/support/measure/cost.ts';
import { onEachEngine } from '../support/databases.ts';
import { timeMs } from '../support/measure.ts';
import { judge } from '../support/verdict.ts';

const TOKENS = 100_000;
const TRAITS = 10;
/**
 * The share of tokens whose metadata was never read. If the share were above one in a hundred, no token would be ranked. The tokens without
 * metadata have the highest ids.
 */
const UNREAD_SHARE = 0.005;
const ID = 'ethereum_0x00000000000000000000000000000000000000aa';

export function benchRarity(): Promise<void> {
  const tokens = Math.round(TOKENS * Number(process.env['BENCH_SCALE'] ?? 1));
  return onEachEngine(async (database) => {
    const now = Date.now();
    await fill(database, { tokens, now });
    const context = { main: database, indexer: database, clock: () => now };
    let state = '';
    let ms = 0;
    const cpuMs = await measureCpuMs(async () => {
      ms = await timeMs(async () => {
        const due = { collectionId: ID, revision: 1, generation: 0 };
        ({ state } = await rankTokens(context, due, new AbortController().signal));
      });
    });
    judge({
      name: `rarity, ${database.engine}, ranks of ${tokens} tokens with ${TRAITS} traits`,
      figure: ms / 1_000,
      unit: 's',
      rounds: [],
      aim: null,
      beside: `${state}, ${(cpuMs / 1_000).toFixed(1)} s of CPU in this process`,
    });
  });
}

/** Fills a new database. */
async function fill(database: Database, { tokens, now }: { tokens: number; now: number }): Promise<void> {
  const read = tokens - Math.round(tokens * UNREAD_SHARE);
  await database.transaction(async (tx) => {
    // `session_replication_role` switches off the triggers that would check the foreign keys of every row.
    await tx.query('set local session_replication_role = replica');
    await tx.query('set local statement_timeout = 0');
    await tx.query(
      `insert into main.collection (id, chain, contract_address, slug, name, created_at, tokens_complete)
       values ($1, 'ethereum', split_part($1, '_', 2), 'rarity', 'Rarity', $2, true)`,
      [ID, new Date(now)],
    );
    await tx.query(
      `insert into indexer.token (collection_id, asset, chain) select $1, n::text, 'ethereum' from generate_series(1, $2) as n`,
      [ID, tokens],
    );
    await tx.query(
      `insert into indexer.token_metadata (collection_id, asset, source, fetched_at)
       select $1, n::text, 'import', $3 from generate_series(1, $2) as n`,
      [ID, read, new Date(now)],
    );
    await tx.query(
      `insert into indexer.token_trait (collection_id, asset, name, value, kind, position)
       select $1, n::text, 'Trait ' || trait, 'Value ' || (hashtext(trait || ' ' || n) & 31) * (hashtext(n || ' ' || trait) & 31) / 31, 'text', trait
       from generate_series(1, $2) as n, generate_series(1, $3) as trait`,
      [ID, read, TRAITS],
    );
    await tx.query(
      `insert into indexer.collection_figures (collection_id, tokens, recorded, chain, created_at) values ($1, $2, true, 'ethereum', $3)`,
      [ID, tokens, new Date(now)],
    );
    await tx.query(`insert into indexer.collection_rarity (collection_id, revision) values ($1, 1)`, [ID]);
  });
  await database.query('vacuum analyze');
}
