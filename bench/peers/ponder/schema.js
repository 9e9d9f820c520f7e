// The table that Ponder fills in the benchmark: one row for each token.

import { onchainTable } from 'ponder';

export const token = onchainTable('token', (column) => ({
  id: column.bigint().primaryKey(),
  owner: column.hex().notNull(),
}));
