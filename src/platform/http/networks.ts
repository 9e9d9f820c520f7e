// Networks of IP addresses, as an operator writes them: `10.1.2.0/24,2001:db8::/48`.

import { BlockList, isIP } from 'node:net';
import { parseInteger, splitList } from '../core/setting.ts';

export class Networks {
  readonly #list = new BlockList();
  readonly isEmpty: boolean;

  constructor(networks: readonly Network[]) {
    this.isEmpty = networks.length === 0;
    for (const { address, bits, family } of networks) this.#list.addSubnet(address, bits, family);
  }

  /** Whether the address is in one of the networks. An IPv4 address that is mapped to IPv6 counts as IPv4. */
  has(address: string): boolean {
    return this.#list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
}

type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' };

/** Parses an address, or a range in CIDR form. Null for anything else. */
export function parseNetwork(text: string): Network | null {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes('%')) return null;
  const max = version === 4 ? 32 : 128;
  const bits = length === undefined ? max : parseInteger(length, 0, max);
  return bits === undefined ? null : { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Parses a comma-separated list of networks. Undefined if a part is not a network. */
export function parseNetworks(text: string): Networks | undefined {
  const networks = splitList(text).map(parseNetwork);
  return networks.every((network) => network !== null) ? new Networks(networks) : undefined;
}
