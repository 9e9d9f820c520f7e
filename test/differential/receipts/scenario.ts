// Builds receipts as a chain would return them: transfers, payments and the events of exchanges, with call data. Each scenario states what happened,
// so that the independent decoder is tested too.

import type { Hex } from 'viem';
import { encodeFunctionData, keccak256, parseAbi, stringToBytes } from 'viem';
import type { EncodedLog } from '../../support/chain/encoded-logs.ts';
import { encode, transferOf } from '../../support/chain/encoded-logs.ts';
import type { ReceiptTransaction } from '../../support/chain/receipts-endpoint.ts';
import type { Sale } from '../decoder.ts';

export type Scenario = {
  /** The file of the protocol in src/sources/chains/protocols, without its extension. */
  protocol: string;
  name: string;
  receipt: ReceiptTransaction;
  /** The sales that the transaction made. */
  sales: Sale[];
};

export const hashOf = (name: string): Hex => keccak256(stringToBytes(name));
export const account = (name: string): Hex => `0x${hashOf(name).slice(-40)}`;
export const WRAPPED: Hex = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
export const DOLLARS: Hex = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
export const ZERO: Hex = '0x0000000000000000000000000000000000000000';
export const OPENSEA_FEES: Hex = '0x0000a26b00c1f0df003000390027140000faa719';
/** Contracts that pass tokens on for their users. */
export const AGGREGATOR = account('aggregator');
export const [SELLER, BUYER, CREATOR, STRANGER] = ['seller', 'buyer', 'creator', 'stranger'].map(account) as [
  Hex,
  Hex,
  Hex,
  Hex,
];
export const ether = (thousandths: number): bigint => BigInt(thousandths) * 10n ** 15n;

/** The ERC-721 contract and the ERC-1155 contract whose tokens a protocol sells here. */
export const tokensOf = (protocol: string): Hex => account(`tokens ${protocol}`);
export const unitsOf = (protocol: string): Hex => account(`units ${protocol}`);

export const tagOf = (domain: string): string => hashOf(domain).slice(2, 10);

export const moved = transferOf;
export const movedUnits = (contract: string, from: string, to: string, id: bigint, value: bigint): EncodedLog =>
  encode(
    contract,
    'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
    { operator: AGGREGATOR, from, to, id, value },
  );
export const paid = (from: string, to: string, value: bigint, currency: string = WRAPPED): EncodedLog =>
  encode(currency, 'event Transfer(address indexed from, address indexed to, uint256 value)', { from, to, value });

/** The call data of an aggregator that calls other contracts. */
export function through(...calls: Hex[]): Hex {
  const abi = parseAbi(['function execute((address target, uint256 value, bytes data)[] calls) payable']);
  return encodeFunctionData({ abi, args: [calls.map((data) => ({ target: STRANGER, value: 0n, data }))] });
}

export const callOf = (signature: string, ...args: unknown[]): Hex =>
  encodeFunctionData({ abi: parseAbi([signature] as readonly string[]), args } as never);

type Happened = {
  from?: Hex;
  input?: string;
  value?: bigint;
  logs: readonly EncodedLog[];
};
export type SaleFacts = Partial<Omit<Sale, 'price' | 'units' | 'tokenId'>> & {
  id?: bigint | null;
  units?: bigint;
  price: bigint | string;
};

/** Builds the scenarios of one protocol. `marketplace`, its tokens, SELLER and BUYER are those of a sale that does not name others. */
export function scenariosOf(
  protocol: string,
  marketplace: string,
): (name: string, happened: Happened, ...sales: SaleFacts[]) => Scenario {
  return (name, { from = BUYER, input = '0x12345678', value = 0n, logs }, ...sales) => {
    const hash = hashOf(`${protocol}: ${name}`);
    return {
      protocol,
      name,
      receipt: { hash, from, to: AGGREGATOR, input, value: value.toString(), logs },
      sales: sales.map(({ id = 7n, units = 1n, price, ...facts }) => ({
        tx: hash,
        contract: tokensOf(protocol),
        tokenId: id === null ? null : id.toString(),
        units: units.toString(),
        price: price.toString(),
        seller: SELLER,
        buyer: BUYER,
        marketplace,
        ...facts,
      })),
    };
  };
}
