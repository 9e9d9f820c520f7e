// Decoders of events by which an account voids all its orders with a lower nonce. Several protocols emit them.

import { bigintAt, topicAddress } from './abi-words.ts';
import type { EventDecoder } from './event-decoder.ts';

/** `(address indexed account, uint256 lowestValidNonce)`, under any name. */
export const counterIncremented: EventDecoder = ({ address, topics, data }, position, events) => {
  const [offerer, counter] = [topicAddress(topics, 1), bigintAt(data, 0)];
  events.push({ ...position, kind: 'counter-incremented', protocol: address, offerer, counter });
};
