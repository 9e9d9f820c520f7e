// Tests that events of Seaport and of token contracts are decoded to the values that viem has encoded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, parseAbi, toEventSelector } from 'viem';
import type { Abi } from 'viem';
import type { Address } from '../../../../src/platform/core/address.ts';
import type { ChainEvent } from '../../../../src/market/chain-log/chain-event.ts';
import { UndecodableData } from '../../../../src/sources/chains/protocols/abi-words.ts';
import { decodeLog, UnreadSale } from '../../../../src/sources/chains/protocols/event-decoder.ts';
import type { EventDecoders, VerifiedLog } from '../../../../src/sources/chains/protocols/event-decoder.ts';
import { SETTLEMENT_PROTOCOLS } from '../../../../src/sources/chains/protocols/registry.ts';
import { SEAPORT, SEAPORT_TOPICS } from '../../../../src/sources/chains/protocols/seaport.ts';
import { TOKEN_DECODERS, TOKEN_TOPICS } from '../../../../src/sources/chains/protocols/token-standards.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { EVENTS } from '../../../support/chain/encoded-logs.ts';

const SIGNATURES = {
  ...EVENTS.seaport,
  transfer: 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  transferSingle:
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  transferBatch:
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  approvalForAll: 'event ApprovalForAll(address indexed owner, address indexed operator, bool approved)',
  metadataUpdate: 'event MetadataUpdate(uint256 tokenId)',
  batchMetadataUpdate: 'event BatchMetadataUpdate(uint256 fromTokenId, uint256 toTokenId)',
  contractUriUpdated: 'event ContractURIUpdated()',
  uri: 'event URI(string value, uint256 indexed id)',
  approval: 'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
};
const EMITTER = '0x00000000000000000000000000000000000e0117' as Address;

test('every topic is the hash of its event signature', () => {
  const topics: Record<string, string> = { ...SEAPORT_TOPICS, ...TOKEN_TOPICS };
  assert.deepEqual(Object.keys(topics).sort(), Object.keys(SIGNATURES).sort());
  for (const [name, signature] of Object.entries(SIGNATURES))
    assert.equal(topics[name], toEventSelector(signature), name);
});

test('fills and batch transfers that viem encodes are decoded to the same values', () => {
  const address = fc.bigInt(1n, 2n ** 160n - 1n).map((value) => `0x${value.toString(16).padStart(40, '0')}` as const);
  const hash = fc.bigInt(0n, 2n ** 256n - 1n).map((value) => `0x${value.toString(16).padStart(64, '0')}` as const);
  const uint = fc.oneof(fc.bigInt(0n, 2n ** 53n), fc.bigInt(0n, 2n ** 256n - 1n));
  const item = { token: address, identifier: uint, amount: uint };
  const spent = fc.record({ itemType: fc.integer({ min: 0, max: 5 }), ...item }, PLAIN);
  const received = fc.record({ itemType: fc.constant(1), ...item, recipient: address }, PLAIN);
  const members = {
    orderHash: hash,
    offerer: address,
    zone: address,
    recipient: address,
    offer: fc.array(spent, { maxLength: 6 }),
    consideration: fc.array(received, { maxLength: 6 }),
  };
  const fill = fc.record(members, PLAIN);
  fc.assert(
    fc.property(fill, (args) => {
      const [event] = decode('orderFulfilled', args);
      assert.deepEqual(event, { ...PLACE, kind: 'order-fulfilled', protocol: EMITTER, ...args });
    }),
  );
  const moves = fc.array(fc.tuple(uint, uint), { maxLength: 8 });
  fc.assert(
    fc.property(address, address, moves, (from, to, list) => {
      const [ids, values] = [list.map(([id]) => id), list.map(([, value]) => value)];
      const events = decode('transferBatch', { operator: from, from, to, ids, values });
      const expected = list.map(([id, quantity], part) => ({
        ...PLACE,
        part,
        kind: 'transfer',
        contract: EMITTER,
        tokenId: id.toString(),
        from,
        to,
        quantity,
      }));
      assert.deepEqual(events, expected);
    }),
  );
});

test('the order hash is decoded from both forms of OrderValidated', () => {
  const orderHash = `0x${'7a'.repeat(32)}` as const;
  const [offerer, zone] = [EMITTER, EMITTER];
  const first = decode('orderValidatedFirst', { orderHash, offerer, zone });
  const data: Hex = `${orderHash}${'0'.repeat(63)}0`;
  const events: ChainEvent[] = [];
  decodeLog(toLog([SEAPORT_TOPICS.orderValidated], data), SEAPORT.decoders, 0, events);
  for (const [event] of [first, events]) assert.equal(event?.kind === 'order-validated' && event.orderHash, orderHash);
});

test('random data is decoded, or rejected with UndecodableData or UnreadSale', () => {
  const hex = fc
    .array(fc.nat(15), { maxLength: 700 })
    .map((digits) => digits.map((digit) => digit.toString(16)).join(''));
  const role = fc.constantFrom(...SETTLEMENT_PROTOCOLS.map(({ decoders }) => decoders), TOKEN_DECODERS);
  fc.assert(
    fc.property(role, fc.nat(5), fc.nat(3), hex, fc.boolean(), (decoders, kind, indexed, digits, sparse) => {
      const word = digits.slice(0, 24).padStart(64, '0');
      const all = [
        [...decoders.keys()][kind] ?? TOKEN_TOPICS.transfer,
        ...Array.from({ length: indexed }, (): Hex => `0x${word}`),
      ];
      // In half of the cases most digits are zero, because a random word is almost never a valid offset.
      const data = sparse ? digits.replaceAll(/[^0248]/g, '0') : digits;
      const events: ChainEvent[] = [];
      try {
        decodeLog(toLog(all, `0x${data}`), decoders, 0, events);
      } catch (error) {
        assert.ok(error instanceof UndecodableData || error instanceof UnreadSale);
        assert.deepEqual(events, []);
      }
    }),
    { numRuns: 6_000 },
  );
  const huge: Hex = `0x${'40'.padStart(64, '0')}${'40'.padStart(64, '0')}${'fffffffffffff'.padStart(64, '0')}`;
  assert.throws(() => decodeLog(toLog([TOKEN_TOPICS.transferBatch], huge), TOKEN_DECODERS, 0, []), UndecodableData);
});

test('the decoders of tokens ignore events of ERC-20 and of Seaport, and the decoders of Seaport ignore events of tokens', () => {
  const word: Hex = `0x${'1'.padStart(64, '0')}`;
  const cases: [EventDecoders, Hex[]][] = [
    [TOKEN_DECODERS, [TOKEN_TOPICS.transfer, word, word]],
    [TOKEN_DECODERS, [TOKEN_TOPICS.approval, word, word]],
    [TOKEN_DECODERS, [SEAPORT_TOPICS.orderCancelled, word, word]],
    [SEAPORT.decoders, [TOKEN_TOPICS.transfer, word, word, word]],
    [TOKEN_DECODERS, [word]],
    [TOKEN_DECODERS, []],
  ];
  for (const [decoders, topics] of cases) {
    const events: ChainEvent[] = [];
    decodeLog(toLog(topics, word), decoders, 0, events);
    assert.deepEqual(events, []);
  }
});

const PLAIN = { noNullPrototype: true };
const PLACE = { blockNumber: 7, blockTime: 5_000, tx: `0x${'0a'.repeat(32)}` as const, logIndex: 3, part: 0 };

function toLog(topics: readonly Hex[], data: Hex): VerifiedLog {
  const { blockNumber, tx, logIndex } = PLACE;
  return { address: EMITTER, topics, data, blockNumber, blockHash: tx, tx, logIndex, time: null };
}

function decode(name: keyof typeof SIGNATURES, args: Record<string, unknown>): ChainEvent[] {
  const abi: Abi = parseAbi([SIGNATURES[name]]);
  const [event] = abi;
  assert.ok(event?.type === 'event');
  const topics = encodeEventTopics({ abi, args }) as Hex[];
  const inData = event.inputs.filter((input) => !input.indexed);
  const data = encodeAbiParameters(
    inData,
    inData.map((input) => args[input.name ?? '']),
  );
  const events: ChainEvent[] = [];
  decodeLog(toLog(topics, data), name in TOKEN_TOPICS ? TOKEN_DECODERS : SEAPORT.decoders, PLACE.blockTime, events);
  return events;
}
