// Decodes rows of the chain log. Each kind of event has a decoder that checks the details of the row. A newer version of this service on
// the same database may log kinds of events that this version does not know.

import type { Hex } from '../../../platform/core/evm.ts';
import type { Row } from '../../../platform/database/port.ts';
import type { Decoder } from '../../../platform/database/rows.ts';
import {
  address,
  amount,
  anyJson,
  assetId,
  boolean,
  column,
  hex,
  integer,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  RowError,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { EventPosition, LoggedEvent, OrderFulfilled } from '../chain-event.ts';

type Kind = LoggedEvent['kind'];

export const KINDS = [
  'order-fulfilled',
  'order-cancelled',
  'order-validated',
  'orders-matched',
  'counter-incremented',
  'nonce-cancelled',
  'token-bid',
  'transfer',
  'approval-for-all',
  'token-approval',
] as const satisfies Kind[];

const decodeRow = rowDecoder('chain_event', {
  blockNumber: column('block_number', safeInteger),
  logIndex: column('log_index', integer),
  part: integer,
  blockTime: column('block_time', timestamp),
  tx: hex,
  kind: oneOf(KINDS),
  details: anyJson,
});

const decodeKind = rowDecoder('chain_event', { kind: text, tx: hex });
const known: ReadonlySet<string> = new Set(KINDS);

/** Returns the kind and the transaction of an event whose kind is not known. Null if the kind is known. */
export function findUnknownKind(row: Row): { kind: string; tx: Hex } | null {
  const found = decodeKind(row);
  return known.has(found.kind) ? null : found;
}

/** Decodes the events of known kinds, and leaves out the others. */
export function decodeEvents(rows: readonly Row[]): LoggedEvent[] {
  return rows.filter((row) => findUnknownKind(row) === null).map(decodeEvent);
}

/** Throws RowError when the row does not have the form of its kind of event. */
export function decodeEvent(row: Row): LoggedEvent {
  const { kind, details, ...position } = decodeRow(row);
  return DECODERS[kind](position, details);
}

const spentItem = { itemType: integer, token: address, identifier: amount, amount };
const fill = object({
  protocol: address,
  orderHash: hex,
  offerer: address,
  zone: address,
  recipient: address,
  offer: list(object(spentItem)),
  consideration: list(object({ ...spentItem, recipient: address })),
});
const fillDomain = object({ domain: hex });
const fillSender = object({ sender: address });

const DECODERS: { [K in Kind]: (position: EventPosition, details: unknown) => Extract<LoggedEvent, { kind: K }> } = {
  'order-fulfilled': decodeFill,
  'order-cancelled': decoderOf('order-cancelled', object({ protocol: address, orderHash: hex, offerer: address })),
  'order-validated': decoderOf('order-validated', object({ protocol: address, orderHash: hex })),
  'orders-matched': decoderOf('orders-matched', object({ protocol: address, orderHashes: list(hex) })),
  'counter-incremented': decoderOf(
    'counter-incremented',
    object({ protocol: address, offerer: address, counter: amount }),
  ),
  'nonce-cancelled': decoderOf('nonce-cancelled', object({ protocol: address, offerer: address, nonce: amount })),
  'token-bid': decoderOf('token-bid', object({ protocol: address, tokenId: assetId, bidder: address, price: amount })),
  transfer: decoderOf(
    'transfer',
    object({ contract: address, tokenId: assetId, from: address, to: address, quantity: amount }),
  ),
  'approval-for-all': decoderOf(
    'approval-for-all',
    object({ contract: address, owner: address, operator: address, approved: boolean }),
  ),
  'token-approval': decoderOf(
    'token-approval',
    object({ contract: address, tokenId: assetId, owner: address, operator: nullable(address) }),
  ),
};

function decoderOf<K extends Kind, T>(kind: K, decoder: Decoder<T>) {
  return (position: EventPosition, details: unknown) => ({
    ...position,
    kind,
    ...decodeDetails(kind, decoder, details),
  });
}

/** The details of a fill have no `domain` and no `sender` if the transaction of the fill was not read. */
function decodeFill(position: EventPosition, details: unknown): OrderFulfilled {
  const kind = 'order-fulfilled';
  const event = { ...position, kind, ...decodeDetails(kind, fill, details) } as const;
  return { ...event, ...fillDomain.decode(details), ...fillSender.decode(details) };
}

function decodeDetails<T>(kind: Kind, decoder: Decoder<T>, details: unknown): T {
  const decoded = decoder.decode(details);
  if (decoded === undefined) throw new RowError(`chain_event: details of ${kind} are not an ${decoder.expected}`);
  return decoded;
}
