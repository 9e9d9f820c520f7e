// Describes SQL statements for traces. A trace shows the text of a statement, which is constant, and never the values of its parameters.

import { BoundedMap } from '../core/bounded-map.ts';
import type { TracedOperation } from '../core/traced.ts';

const TEXT_LENGTH_MAX = 2_000;
const SUMMARIES_MAX = 1_000;
const TABLES_MAX = 3;

const summaries = new BoundedMap<string, string>(SUMMARIES_MAX);

/**
 * Describes a statement. A trace shows it only inside a request or a task. Otherwise the statements with which workers read their queues
 * every second would fill the traces.
 */
export function describeStatement(database: string, sql: string): () => TracedOperation {
  return () => ({
    ...describe(database, summaryOf(sql)),
    attributes: {
      ...attributesOf(database),
      'db.query.summary': summaryOf(sql),
      'db.query.text': sql.slice(0, TEXT_LENGTH_MAX),
    },
  });
}

/** Describes a transaction. In a trace, its statements are shown inside the transaction. */
export function describeTransaction(database: string): () => TracedOperation {
  return () => describe(database, 'transaction');
}

function describe(database: string, name: string): TracedOperation {
  return { kind: 'client', name, needsParent: true, attributes: attributesOf(database) };
}

function attributesOf(database: string): TracedOperation['attributes'] {
  return { 'db.system.name': 'postgresql', 'db.client.connection.pool.name': database };
}

/** The first word of a statement and its first tables, such as `SELECT main.product`. */
function summaryOf(sql: string): string {
  let summary = summaries.get(sql);
  if (summary === undefined) {
    const [operation = ''] = /\w+/.exec(sql) ?? [];
    const tables = new Set(Array.from(sql.matchAll(/\b(?:main|indexer)\.\w+(?=[\s(,;]|$)/g), ([table]) => table));
    summary = [operation.toUpperCase(), ...[...tables].slice(0, TABLES_MAX)].join(' ');
    summaries.set(sql, summary);
  }
  return summary;
}
