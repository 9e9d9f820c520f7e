// Finds the contracts of a settlement protocol on a built-in chain. Their addresses are written in the code, because they are the same for
// every operator of the service. An address at which no contract is deployed does no harm, because an address without code emits no events.

import type { Address } from '../../../platform/core/address.ts';
import { parseAddress } from '../../../platform/core/address.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

/**
 * Returns a function that lists the contracts of a chain. The keys of `addresses` are ids of chains, such as `ethereum`. Throws when
 * `addresses` contains a text that is not an address.
 */
export function deployedAt(
  addresses: Readonly<Record<string, readonly string[]>>,
): SettlementProtocol['listContracts'] {
  const parsed = new Map(Object.entries(addresses).map(([chain, texts]) => [chain, texts.map(toAddress)]));
  return ({ id }) => parsed.get(id) ?? [];
}

function toAddress(text: string): Address {
  const address = parseAddress('evm', text);
  if (address === null) throw new Error(`${text} is not an address`);
  return address;
}
