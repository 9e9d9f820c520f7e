// Lets a caller record the rows that a statement writes, within the same statement, so that the rows are not read a second time. This file
// must not know what is recorded.

import type { Queryable } from './port.ts';

/**
 * What is added to a statement that writes rows in a common table expression. The statement must read the rows as they were before it in an
 * earlier expression, because on a Citus cluster the expressions of a statement do not read the same snapshot.
 */
export type WriteRecording = {
  /**
   * SQL that is appended to the `returning` clause. A comma stands before each expression, including the first. The statement must give the
   * written table the alias `stored`.
   */
  returning: string;
  /** Text at the end of the select list of the earlier rows, like `returning`. They must have the alias `stored` too. */
  image: string;
  /**
   * Returns further common table expressions, with a comma before each. `written` is the name of the expression that writes the rows. The
   * expression `written` must also return `inserted`, which is false for an updated row. `before` is the name of the expression with the
   * earlier rows, their keys and `image`. `first` is the number of the placeholder of `params[0]`: 3 for `$3`.
   */
  toSql: (names: { written: string; before: string }, first: number) => string;
  params: readonly unknown[];
};

/** Prepares the recording of one statement. Must be called in the transaction of the statement, before the statement. */
export type RecordWrites = (tx: Queryable) => Promise<WriteRecording>;

const NOTHING: WriteRecording = { returning: '', image: '', toSql: () => '', params: [] };

export const recordNothing: RecordWrites = () => Promise.resolve(NOTHING);
