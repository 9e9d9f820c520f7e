// What all checks of a comparison have in common.

import type { StreamCopy } from '../doors/copy.ts';
import type { ServiceDoors } from '../doors/service-doors.ts';
import type { Reader } from '../rules/figures.ts';
import type { Json } from './check.ts';

export type Context = {
  doors: ServiceDoors;
  reader: Reader;
  /** A copy of the open orders that follows the stream. */
  copy: StreamCopy;
  /** The size of a page. */
  limit: number;
};

export const EXPLORE = '/explore/v1';

/** All rows of a list. Null: 404. */
export async function rowsOf({ doors, limit }: Context, path: string): Promise<Json[] | null> {
  return (await doors.rows(path, limit)) as Json[] | null;
}

/** The rows of a list of collections without those whose figures are not those of the market of the model. */
export function withoutOthers(doors: ServiceDoors, rows: readonly unknown[] | null): Json[] | null {
  const others = doors.otherIds;
  return rows && (rows as Json[]).filter(({ id }) => !others.has(String(id)));
}

export function byText<T>(rows: readonly T[], textOf: (row: T) => unknown): T[] {
  const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
  return rows.toSorted((a, b) => compare(String(textOf(a)), String(textOf(b))));
}
