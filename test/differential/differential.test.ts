// Compares what the service reads from receipts of every protocol with what an independent decoder finds in them: the sales, and what becomes of
// each log of a settlement contract.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toEventSelector } from 'viem';
import { listProtocolContracts } from '../../src/sources/chains/protocols/registry.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import { EVENTS } from '../support/chain/encoded-logs.ts';
import { compareLogs, compareSales } from './comparison.ts';
import { decodeReceipts } from './decoder.ts';
import { MUTATIONS, SHARED_MUTATIONS } from './mutations.ts';
import { ENCODED_CHAIN, SCENARIOS } from './receipts/all.ts';
import { readByService } from './service-reader.ts';
import { PROTOCOLS } from './trades.ts';

const { blocks, codes } = ENCODED_CHAIN;
const contracts = [...ENCODED_CHAIN.contracts.keys()];
const NOTHING = { missing: [], extra: [] };
const PROTOCOL_FILES = new URL('../../src/sources/chains/protocols/', import.meta.url);

test('the independent decoder finds what happened in each receipt', () => {
  const happened = SCENARIOS.flatMap(({ sales }) => sales);
  assert.deepEqual(compareSales(happened, decodeReceipts(blocks.flat(), { codes }).sales), NOTHING);
});

test('the service reads the sales that the independent decoder finds and no other, and no log is lost', async (t) => {
  const decoded = decodeReceipts(blocks.flat(), { codes, knowsBids: false });
  const read = await readByService(t, { ...ENCODED_CHAIN, contracts });
  assert.deepEqual(compareSales(decoded.sales, read.sales), NOTHING);
  assert.deepEqual(compareLogs(decoded.logs, read), NOTHING);
});

test('a sale whose log is cut off is counted by its protocol, or is read all the same', async (t) => {
  // Orders of this service depend on the logs of Seaport, so the reading stops at one that is cut off.
  const sales = decodeReceipts(blocks.flat(), { codes }).logs.filter(
    ({ kind, protocol }) => kind === 'trades' && protocol !== 'seaport',
  );
  const isSale = new Set(sales.map(({ tx, at }) => `${tx} ${at}`));
  for (const [kept, of] of [
    [0, 1],
    [1, 2],
    [3, 4],
  ] as const) {
    const cut = blocks.map((receipts) =>
      receipts.map((receipt) => ({
        ...receipt,
        logs: receipt.logs.map((log, at) => {
          const words = Math.floor((((log.data.length - 2) / 64) * kept) / of);
          return isSale.has(`${receipt.hash} ${at}`) ? { ...log, data: log.data.slice(0, 2 + 64 * words) } : log;
        }),
      })),
    );
    const read = await readByService(t, { ...ENCODED_CHAIN, blocks: cut, contracts });
    const counted = [...read.unread.values()].reduce((sum, logs) => sum + logs, 0);
    const readLogs = sales.filter(({ tx, at }) => read.sold.has(`${tx} ${at}`)).length;
    const unread = decodeReceipts(blocks.flat(), { codes }).logs.filter(({ kind }) => kind === 'unread').length;
    assert.equal(readLogs + counted, sales.length + unread, `${kept}/${of} of the data`);
  }
});

test('the service and the independent decoder know the same contracts and events', () => {
  const ethereum = createChains().get('ethereum') ?? assert.fail();
  const factories = ['sudoswap-v1', 'sudoswap-v2'];
  const known = [...listProtocolContracts(ethereum, new Map())]
    .filter(([, { name }]) => !factories.includes(name))
    .map(([address, { name, decoders }]) => `${name} ${address}: ${[...decoders.keys()].toSorted().join()}`);
  const decoded = PROTOCOLS.flatMap(({ name, events, contracts: addresses }) => {
    const topics = Object.values(EVENTS[events] as Record<string, string>).map((event) => toEventSelector(event));
    return addresses.map((address) => `${name} ${address}: ${topics.toSorted().join()}`);
  });
  assert.deepEqual(decoded.toSorted(), known.toSorted());
});

test('every reason for which a log is no sale is in docs/protocols.md', () => {
  const docs = readFileSync(new URL('../../docs/protocols.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
  const reasons = decodeReceipts(blocks.flat(), { codes }).logs.flatMap(({ kind, reason }) =>
    kind === 'no sale' && reason !== null ? [reason] : [],
  );
  assert.ok(reasons.length > 0);
  assert.deepEqual(
    reasons.filter((reason) => !docs.includes(reason)),
    [],
  );
});

test('every protocol has receipts and three ways to break it, which its file still has', () => {
  const registry = readFileSync(new URL('registry.ts', PROTOCOL_FILES), 'utf8');
  const files = [...registry.matchAll(/import \{ [A-Z0-9_, ]+ \} from '\.\/([a-z0-9-]+)\.ts'/g)].map(
    ([, file = '']) => file,
  );
  assert.deepEqual(Object.keys(MUTATIONS).toSorted(), files.toSorted());
  const withReceipts = new Set(SCENARIOS.map(({ protocol }) => protocol));
  assert.deepEqual(
    files.filter((file) => !withReceipts.has(file)),
    [],
  );
  for (const [file, mutations] of Object.entries({ ...MUTATIONS, ...SHARED_MUTATIONS })) {
    const text = readFileSync(new URL(`${file}.ts`, PROTOCOL_FILES), 'utf8');
    assert.equal(new Set(mutations.map(({ kind }) => kind)).size, 3, file);
    for (const mutation of mutations) assert.ok(text.includes(mutation.text), `${file}: ${mutation.text}`);
  }
});
