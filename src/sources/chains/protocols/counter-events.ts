// Decodes the events by which an account voids its orders: all orders with a lower nonce, or the orders with the nonces of a list. Several
// protocols emit these events.

import type { Address } from '../../../platform/core/address.ts';
import { addressAt, arrayAt, bigintAt, topicAddress } from './abi-words.ts';
import type { EventDecoder, VerifiedLog } from './event-decoder.ts';

/** Decodes an event of any name with the parameters `(address indexed account, uint256 lowestValidNonce)`. */
export const counterIncremented: EventDecoder = ({ address, topics, data }, position, events) => {
  const [offerer, counter] = [topicAddress(topics, 1), bigintAt(data, 0)];
  events.push({ ...position, kind: 'counter-incremented', protocol: address, offerer, counter });
};

/** Decodes an event of any name with the parameters `(address account, uint256 nonce)`. */
export const nonceCancelled: EventDecoder = ({ address, data }, position, events) => {
  const [offerer, nonce] = [addressAt(data, 0), bigintAt(data, 1)];
  events.push({ ...position, kind: 'nonce-cancelled', protocol: address, offerer, nonce });
};

/** `list`: the index of the data word that points to the list of cancelled nonces. `offererOf` reads the account from the log. */
export function noncesCancelled(list: number, offererOf: (log: VerifiedLog) => Address): EventDecoder {
  return (log, position, events) => {
    const { address: protocol, data } = log;
    const offerer = offererOf(log);
    const { start, length } = arrayAt(data, list, 1);
    for (let part = 0; part < length; part += 1) {
      const nonce = bigintAt(data, start + part);
      events.push({ ...position, part, kind: 'nonce-cancelled', protocol, offerer, nonce });
    }
  };
}
