// Compares what the service reads from the encoded receipts with the independent decoder, and exits with 1 if they differ. mutate.ts runs it on
// broken copies of the service.

import { compareSales } from './comparison.ts';
import { decodeReceipts } from './decoder.ts';
import { ENCODED_CHAIN } from './receipts/all.ts';
import { readByService } from './service-reader.ts';

const { blocks, codes, contracts } = ENCODED_CHAIN;
const decoded = decodeReceipts(blocks.flat(), { codes, knowsBids: false });
const closers: (() => void)[] = [];
const closing = { after: (close: () => void) => void closers.push(close) };
const read = await readByService(closing, { ...ENCODED_CHAIN, contracts: [...contracts.keys()] });
for (const close of closers) close();
const { missing, extra } = compareSales(decoded.sales, read.sales);
for (const text of missing) console.log(`missing: ${text}`);
for (const text of extra) console.log(`extra: ${text}`);
console.log(`${decoded.sales.length} sales compared`);
process.exitCode = missing.length + extra.length === 0 ? 0 : 1;
