// A walk whose pages are harvests of records. A list of which much was not understood was not seen whole: what is missing from
// it may be there in a form that nobody here knows.

import type { Harvest } from '../rows.ts';
import { RowRefusal } from '../rows.ts';
import type { Page, WalkEnd, WalkOptions } from '../walk.ts';
import { walkPages } from '../walk.ts';

const LEFT_OUT = 'left out: ';

/** Refuses a row that is understood and has no place here, such as a price in another currency: it is counted like the others. */
export function leaveOut(field: string, why: string): never {
  throw new RowRefusal(`${LEFT_OUT}${field} ${why}`);
}

const REFUSED_SHARE_MAX = 0.1;
/** Fewer refused rows than this say nothing of the rest. */
const REFUSED_MIN = 3;

export async function* walkRows(
  readPage: (cursor: string | null) => Promise<Page>,
  harvest: (rows: readonly unknown[]) => Harvest,
  options: WalkOptions,
): AsyncGenerator<Harvest, WalkEnd> {
  const pages = walkPages(readPage, options);
  let refused = 0;
  for (;;) {
    const page = await pages.next();
    if (page.done) {
      const end = page.value;
      const doubtful = end.whole && refused >= REFUSED_MIN && refused > end.rows * REFUSED_SHARE_MAX;
      return doubtful ? { ...end, whole: false, why: 'too many refused' } : end;
    }
    const told = harvest(page.value);
    refused += told.refused.filter((reason) => !reason.startsWith(LEFT_OUT)).length;
    yield told;
  }
}
