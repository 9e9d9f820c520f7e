// A walk whose pages are harvests of records. A list of which much was not understood was not seen whole: what is missing from
// it may be there in a form that nobody here knows.

import type { ParsedPage } from '../rows.ts';
import { RowRejection } from '../rows.ts';
import type { Page, WalkEnd, WalkOptions } from '../walk.ts';
import { parsePages, walkPages } from '../walk.ts';

const LEFT_OUT = 'left out: ';

/** Refuses a row that is understood and has no place here, such as a price in another currency: it is counted like the others. */
export function leaveOut(field: string, why: string): never {
  throw new RowRejection(`${LEFT_OUT}${field} ${why}`);
}

/** Whether a refusal is of a row that was left out on purpose. */
export function isLeftOut(reason: string): boolean {
  return reason.startsWith(LEFT_OUT);
}

/** A small book may well hold one or two rows that nobody understands. */
const REFUSED_MIN = 3;

export function walkRows(
  readPage: (cursor: string | null) => Promise<Page>,
  harvest: (rows: readonly unknown[]) => ParsedPage,
  options: WalkOptions,
): AsyncGenerator<ParsedPage, WalkEnd> {
  const isDoubt = (reason: string) => !isLeftOut(reason);
  return parsePages(walkPages(readPage, options), harvest, { isDoubt, refusedMin: REFUSED_MIN });
}
