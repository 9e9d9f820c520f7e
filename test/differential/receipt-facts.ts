// Reads receipts for the independent decoder: the fields of events, the tokens that moved, and the calls inside call data. This folder's decoder
// imports nothing of src, so that a mistake of the service cannot hide in both.

import type { AbiEvent, AbiFunction, Hex } from 'viem';
import { decodeEventLog, decodeFunctionData, parseAbi, toEventSelector, toFunctionSelector } from 'viem';
import { EVENTS } from '../support/chain/encoded-logs.ts';

export type DecodedLog = { address: string; topics: readonly string[]; data: string };
export type DecodedReceipt = {
  hash: string;
  from: string;
  input: string;
  /** The native currency that the call carries, in base units. Absent when it is not known. */
  value?: string;
  logs: readonly DecodedLog[];
};

export type EventSet = keyof typeof EVENTS;
// The fields of an event have the types of its signature, which the reader of each protocol knows.
// oxlint-disable-next-line typescript/no-explicit-any
export type Fields = any;

export const ZERO = `0x${'0'.repeat(40)}`;

/** The events of each protocol by topic. */
const EVENTS_BY_TOPIC = new Map(
  Object.entries(EVENTS).map(([set, signatures]) => [
    set,
    new Map(
      Object.entries(signatures as Record<string, string>).map(([name, signature]) => [
        toEventSelector(signature),
        { name, abi: parseAbi([signature] as readonly string[]) },
      ]),
    ),
  ]),
);

/** The name and the fields of an event of the protocol. Null for another log, `malformed` for one that does not have the form of its event. */
export function readEvent(set: EventSet, log: DecodedLog): { name: string; fields: Fields } | 'malformed' | null {
  const event = EVENTS_BY_TOPIC.get(set)?.get((log.topics[0] ?? '0x') as Hex);
  if (!event) return null;
  try {
    const { args } = decodeEventLog({ abi: event.abi, topics: log.topics as never, data: log.data as Hex });
    return { name: event.name, fields: toLower(args ?? {}) };
  } catch {
    return 'malformed';
  }
}

function toLower(value: unknown): Fields {
  if (typeof value === 'string') return value.startsWith('0x') ? value.toLowerCase() : value;
  if (Array.isArray(value)) return value.map(toLower);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toLower(inner)]));
}

export type Move = {
  contract: string;
  id: bigint;
  units: bigint;
  from: string;
  to: string;
  /** The index of the log in the receipt. */
  at: number;
};

const TOKEN_EVENTS = {
  transfer: 'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  single:
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 units)',
  batch:
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] units)',
};
const TOKEN_ABI = parseAbi(Object.values(TOKEN_EVENTS)) as readonly AbiEvent[];
const TRANSFER = toEventSelector(TOKEN_EVENTS.transfer);
const PUNKS = '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb';
/** These contracts have the token id of a `Transfer` in its data. */
const FIRST_SUPERRARE = '0x41a322b28d0ff354040e2cbc676f0320d8c8850d';

/** The tokens that moved, in the order of the logs. */
export function listMoves({ logs }: Pick<DecodedReceipt, 'logs'>): Move[] {
  return logs.flatMap((log, at) => movesIn(log).map((move) => ({ ...move, contract: log.address.toLowerCase(), at })));
}

function movesIn(log: DecodedLog): Omit<Move, 'contract' | 'at'>[] {
  const address = log.address.toLowerCase();
  if (address === PUNKS) return movesOfPunk(log);
  if (address === FIRST_SUPERRARE) {
    const read = readEvent('superRare', log);
    if (read === null || read === 'malformed' || read.name !== 'tokenTransfer') return [];
    return [{ id: read.fields._tokenId, units: 1n, from: read.fields._from, to: read.fields._to }];
  }
  // An ERC-20 transfer has the same topic, and one topic less.
  const event = TOKEN_ABI.find((one) => toEventSelector(one) === log.topics[0]);
  if (!event || log.topics.length !== 4) return [];
  const { args, eventName } = decodeEventLog({ abi: [event], topics: log.topics as never, data: log.data as Hex });
  const { from, to, id, ids, units } = toLower(args);
  if (eventName === 'Transfer') return [{ id, units: 1n, from, to }];
  if (eventName === 'TransferSingle') return [{ id, units, from, to }];
  return (ids as bigint[]).map((one, index) => ({ id: one, units: units[index], from, to }));
}

/** The contract of the CryptoPunks has events of its own. Its `Transfer` names no punk. */
function movesOfPunk(log: DecodedLog): Omit<Move, 'contract' | 'at'>[] {
  const read = readEvent('cryptoPunks', log);
  if (read === null || read === 'malformed') return [];
  const { punkIndex: id, from = ZERO, to, fromAddress, toAddress } = read.fields;
  if (read.name === 'punkTransfer' || read.name === 'assign') return [{ id, units: 1n, from, to }];
  if (read.name !== 'punkBought' || toAddress === ZERO) return [];
  return [{ id, units: 1n, from: fromAddress, to: toAddress }];
}

/** The contracts whose tokens the receipts move, with the standard of each. */
export function tokenStandards(receipts: readonly Pick<DecodedReceipt, 'logs'>[]): Map<string, 'erc721' | 'erc1155'> {
  const standards = new Map<string, 'erc721' | 'erc1155'>();
  for (const { logs } of receipts) {
    for (const { contract, at } of listMoves({ logs })) {
      standards.set(contract, logs[at]?.topics[0] === TRANSFER ? 'erc721' : 'erc1155');
    }
    if (logs.some(({ address }) => address === PUNKS)) standards.set(PUNKS, 'erc721');
  }
  return standards;
}

/** The arguments of each call of the function in the call data, also inside the call data of an aggregator. */
export function findCalls(input: string, signature: string): Fields[] {
  const abi = parseAbi([signature] as readonly string[]) as readonly AbiFunction[];
  const [definition] = abi;
  if (!definition) return [];
  const selector = toFunctionSelector(definition).slice(2);
  const calls: Fields[] = [];
  for (let at = input.indexOf(selector); at >= 0; at = input.indexOf(selector, at + 1)) {
    try {
      const { args } = decodeFunctionData({ abi, data: `0x${input.slice(at)}` });
      calls.push(toLower(args ?? []));
    } catch {
      // The selector's digits can also occur inside other data.
    }
  }
  return calls;
}
