// Lets a caller record the rows that a statement writes, within the same statement, so that the rows are not read a second time. This file
// must not know what is recorded.

import type { Queryable } from './port.ts';

/** What is added to a statement that writes rows in a common table expression. */
export type WriteRecording = {
  /**
   * SQL that is appended to the `returning` clause. A comma stands before each expression, including the first. The statement must give the
   * written table the alias `stored`.
   */
  returning: string;
  /**
   * Returns further common table expressions, with a comma before each. `written` is the name of the expression that writes the rows. The
   * expression `written` must also return `inserted`, which is false for an updated row. `first` is the number of
   * the placeholder of `params[0]`: 3 for `$3`.
   */
  toSql: (written: string, first: number) => string;
  params: readonly unknown[];
};

/** Prepares the recording of one statement. Must be called in the transaction of the statement, before the statement. */
export type RecordWrites = (tx: Queryable) => Promise<WriteRecording>;

const NOTHING: WriteRecording = { returning: '', toSql: () => '', params: [] };

export const recordNothing: RecordWrites = () => Promise.resolve(NOTHING);
