// Lands what a source made of the rows of its answers: the records through the lander, the rows that it refused as refusals.

import type { ParsedPage, SourceRecord } from './rows.ts';
import type { Ingester } from './ingester.ts';

export async function ingestPage(
  ingester: Ingester,
  { records, refused }: ParsedPage,
  signal: AbortSignal,
): Promise<void> {
  for (const reason of refused) ingester.refuse(reason);
  await ingester.land(records, signal);
}

/** Lands the pages of a walk as they come; returns how the walk ended. `change` sees every record before it is landed. */
export async function ingestPages<End>(
  ingester: Ingester,
  pages: AsyncGenerator<ParsedPage, End>,
  signal: AbortSignal,
  { change = (record) => record }: { change?: (record: SourceRecord) => SourceRecord } = {},
): Promise<End> {
  for (;;) {
    const page = await pages.next();
    if (page.done) return page.value;
    await ingestPage(ingester, { ...page.value, records: page.value.records.map(change) }, signal);
  }
}
