// Lets a caller record the rows that a statement writes, within the same statement, so that the rows are not read a second time. The caller
// decides what is recorded.

import type { Queryable } from './port.ts';

/**
 * SQL that is added to a statement. The statement must have two common table expressions: the first reads the earlier state of the rows, the
 * second writes the rows. Both must return all columns of the table. The recording uses the results of these two and does not read the table
 * itself: on a Citus cluster, another read of the table in the same statement can find other rows.
 */
export type WriteRecording = {
  /**
   * Returns further common table expressions, with a comma before each. `written` is the name of the expression that writes the rows. This
   * expression must also return `inserted`, which is false for an updated row. `before` is the name of the expression that reads the
   * earlier rows. `first` is the number of the placeholder of `params[0]`: 3 for `$3`.
   */
  toSql: (names: { written: string; before: string }, first: number) => string;
  params: readonly unknown[];
};

/** Prepares the recording of one statement. Must be called in the transaction of the statement, before the statement. */
export type RecordWrites = (tx: Queryable) => Promise<WriteRecording>;

const NOTHING: WriteRecording = { toSql: () => '', params: [] };

export const recordNothing: RecordWrites = () => Promise.resolve(NOTHING);
