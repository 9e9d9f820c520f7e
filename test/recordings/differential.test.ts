// Compares the sales that the service reads from real transactions of 2017 to 2025, and what becomes of each log of a settlement contract, with what
// the independent decoder of test/differential finds in them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareLogs, compareSales } from '../differential/comparison.ts';
import { decodeReceipts } from '../differential/decoder.ts';
import { tokenStandards } from '../differential/receipt-facts.ts';
import { readByService } from '../differential/service-reader.ts';
import type { ReceiptTransaction } from '../support/chain/receipts-endpoint.ts';
import { needsRecordings, readCompressed } from '../support/recordings/recordings.ts';

const BLOCKS = 'receipts/blocks.json.gz';

type RecordedTransaction = ReceiptTransaction & { frm: string; value: string };

test(
  'the service reads the sales that the independent decoder finds in real transactions and no other, and no log is lost',
  needsRecordings(BLOCKS),
  async (t) => {
    const recorded = readCompressed(BLOCKS) as { txs: RecordedTransaction[] }[];
    const blocks = recorded.map(({ txs }) =>
      txs.map(({ frm, value, ...transaction }) => ({ ...transaction, from: frm, value: BigInt(value).toString() })),
    );
    const contracts = [...tokenStandards(blocks.flat()).keys()];
    const decoded = decodeReceipts(blocks.flat(), { knowsBids: false });
    const read = await readByService(t, { blocks, contracts });
    const isFollowed = ({ contract }: { contract: string }) => contracts.includes(contract);
    assert.deepEqual(compareSales(decoded.sales.filter(isFollowed), read.sales), { missing: [], extra: [] });
    assert.deepEqual(compareLogs(decoded.logs, read), { missing: [], extra: [] });
    assert.ok(decoded.sales.length >= 400, `only ${decoded.sales.length} sales`);
  },
);
