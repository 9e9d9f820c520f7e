// Reads stored responses in the shapes of real endpoints (test/fixtures/rpc/), and decodes the events in them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { ChainEvent } from '../../../../src/market/chain-log/chain-event.ts';
import { decodeLog } from '../../../../src/sources/chains/protocols/event-decoder.ts';
import { SEAPORT as SEAPORT_PROTOCOL } from '../../../../src/sources/chains/protocols/seaport.ts';
import { TOKEN_DECODERS } from '../../../../src/sources/chains/protocols/token-standards.ts';
import { readLogs } from '../../../../src/sources/chains/rpc/log-response.ts';
import { readResults } from '../../../../src/sources/chains/rpc/rpc-response.ts';
import { readHeader } from '../../../../src/sources/chains/rpc/rpc-values.ts';
import { ITEM_TYPE } from '../../../../src/platform/core/seaport.ts';
import { ZERO_ADDRESS } from '../../../../src/platform/core/evm.ts';

const SEAPORT = '0x0000000000000068f116a894984e2db1123eb395';
const [SELLER, BUYER, FEE_RECIPIENT, COLLECTION, EDITIONS] = ['a', 'b', 'c', 'd', 'e'].map(
  (digit) => `0x${digit.repeat(40)}`,
);
const BLOCK_HASH = `0x${'b1'.repeat(32)}` as const;

const responseOf = (name: string) => ({
  status: 200,
  headers: new Headers(),
  body: readFileSync(new URL(`../../../fixtures/rpc/${name}.json`, import.meta.url)),
});
const keep = (text: string) => text;

function decodeFixture(): ChainEvent[] {
  const [result] = readResults(responseOf('get-logs'), { firstId: 2, count: 1, redact: keep });
  const logs = readLogs(result, {
    addresses: new Set([SEAPORT, COLLECTION ?? '', EDITIONS ?? '']),
    topics: new Set([...SEAPORT_PROTOCOL.decoders.keys(), ...TOKEN_DECODERS.keys()]),
    from: 16,
    to: 16,
    hashes: new Map([[16, BLOCK_HASH]]),
  });
  const events: ChainEvent[] = [];
  for (const log of logs) {
    decodeLog(log, log.address === SEAPORT ? SEAPORT_PROTOCOL.decoders : TOKEN_DECODERS, log.time ?? 0, events);
  }
  return events;
}

test('a header is read with its number, hashes and time', () => {
  const [result] = readResults(responseOf('block'), { firstId: 1, count: 1, redact: keep });
  assert.deepEqual(readHeader(result), {
    header: { number: 16, hash: BLOCK_HASH, parentHash: `0x${'b0'.repeat(32)}`, time: 0x65000000 * 1_000 },
    bloom: null,
  });
});

describe('the logs of a block', () => {
  test('the logs of a block are decoded in block order, with one event for each token of a batch transfer', () => {
    assert.deepEqual(
      decodeFixture().map(({ kind, logIndex, part }) => `${logIndex}.${part} ${kind}`),
      [
        '0.0 transfer',
        '1.0 order-fulfilled',
        '2.0 transfer',
        '2.1 transfer',
        '3.0 approval-for-all',
        '4.0 token-approval',
        '5.0 counter-incremented',
        '6.0 order-cancelled',
      ],
    );
  });

  test('the event of a fill has seller, buyer, token and every payment', () => {
    const fill = decodeFixture().find((event) => event.kind === 'order-fulfilled') ?? assert.fail();
    assert.deepEqual([fill.offerer, fill.recipient, fill.protocol], [SELLER, BUYER, SEAPORT]);
    assert.deepEqual(fill.offer, [{ itemType: ITEM_TYPE.erc721, token: COLLECTION, identifier: 7n, amount: 1n }]);
    assert.deepEqual(
      fill.consideration.map(({ itemType, token, amount, recipient }) => [itemType, token, amount, recipient]),
      [
        [ITEM_TYPE.native, ZERO_ADDRESS, 95n * 10n ** 16n, SELLER],
        [ITEM_TYPE.native, ZERO_ADDRESS, 5n * 10n ** 16n, FEE_RECIPIENT],
      ],
    );
  });

  test('token ids and counters of more than 64 bits are exact', () => {
    const events = decodeFixture();
    const batch = events.filter((event) => event.kind === 'transfer' && event.contract === EDITIONS);
    assert.deepEqual(
      batch.map((event) => event.kind === 'transfer' && [event.tokenId, event.quantity]),
      [
        ['7', 3n],
        [(2n ** 200n).toString(), 4n],
      ],
    );
    const revoked = events.find((event) => event.kind === 'token-approval') ?? assert.fail();
    assert.deepEqual([revoked.owner, revoked.operator], [BUYER, null]);
    const raised = events.find((event) => event.kind === 'counter-incremented') ?? assert.fail();
    assert.equal(raised.counter, 2n ** 100n);
  });
});

test('an error for one request of a batch fails the complete batch', () => {
  assert.throws(() => readResults(responseOf('batch-with-error'), { firstId: 1, count: 2, redact: keep }), {
    name: 'RpcFailure',
    kind: 'range-too-large',
  });
});
