// Lands what a source made of the rows of its answers: the records through the lander, the rows that it refused as refusals.

import type { Harvest, SourceRecord } from './rows.ts';
import type { Lander } from './ingester.ts';

export async function landHarvest(lander: Lander, { records, refused }: Harvest, signal: AbortSignal): Promise<void> {
  for (const reason of refused) lander.refuse(reason);
  await lander.land(records, signal);
}

/** Lands the pages of a walk as they come; returns how the walk ended. `change` sees every record before it is landed. */
export async function landPages<End>(
  lander: Lander,
  pages: AsyncGenerator<Harvest, End>,
  signal: AbortSignal,
  { change = (record) => record }: { change?: (record: SourceRecord) => SourceRecord } = {},
): Promise<End> {
  for (;;) {
    const page = await pages.next();
    if (page.done) return page.value;
    await landHarvest(lander, { ...page.value, records: page.value.records.map(change) }, signal);
  }
}
