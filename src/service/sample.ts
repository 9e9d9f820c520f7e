// The sample marketplace of an empty embedded database.

import { removeCollections } from '../market/reads/remove-collections.ts';
import { importRecords } from '../intake/import.ts';
import { isEmpty } from '../platform/database/emptiness.ts';
import type { ServiceContext } from './context.ts';

/**
 * Loads the sample marketplace if the database is embedded, is empty, and holds both schemas. Returns the number of loaded records, 0 if a
 * condition is not met.
 */
export async function loadSample(context: ServiceContext): Promise<number> {
  const { main, indexer, serviceName, clock } = context;
  if (main.engine !== 'embedded' || indexer !== main || !(await isEmpty(main))) return 0;
  const { generateSampleMarket } = await import('../../sample/market.ts');
  const summary = await importRecords(context, toLines(generateSampleMarket({ serviceName, at: clock() })), {
    format: 'ndjson',
    recorded: false,
  });
  return summary.read;
}

/** Removes the sample marketplace. Returns the number of removed collections. */
export async function removeSample(context: ServiceContext): Promise<number> {
  const { listSampleCollections } = await import('../../sample/market.ts');
  const { collections } = await removeCollections(context, listSampleCollections());
  return collections;
}

async function* toLines(records: Iterable<Record<string, unknown>>): AsyncGenerator<Uint8Array> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`);
}
