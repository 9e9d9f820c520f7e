// What a chain itself says at one block, for an audit. Each question is asked once, however many subjects it is about. It
// knows nothing of what we have stored.

import type { Address, AssetId } from '../../core/address.ts';
import type { ChainReader, SeaportOrderStatus } from '../rpc/chain-reader.ts';
import type { Hex } from '../../core/evm.ts';
import type { TokenStandard } from '../../core/evm.ts';

/** The contract gave no answer of the form that was asked for, so that nothing is known. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export type ChainFacts = {
  /** Null: nobody's. */
  ownerOf(contract: Address, tokenId: AssetId): Promise<Address | null>;
  /** Units that an account holds. */
  balanceOf(token: Token, account: Address): Promise<bigint>;
  /** Whether the operator may move the token for the account. */
  isApproved(token: Token, account: Address, operator: Address): Promise<boolean>;
  counterOf(protocol: Address, offerer: Address): Promise<bigint>;
  statusOf(protocol: Address, orderHash: Hex): Promise<SeaportOrderStatus>;
};

type Token = { contract: Address; tokenId: AssetId; standard: TokenStandard };

/** Every question throws NoAnswer, ChainUnavailable or RpcFailure when it cannot be answered. */
export function createChainFacts(reader: ChainReader, block: number): ChainFacts {
  const asked = new Map<string, Promise<unknown>>();
  const once = <T>(question: string, ask: () => Promise<T>): Promise<T> => {
    const answer = asked.get(question) ?? ask();
    asked.set(question, answer);
    return answer as Promise<T>;
  };
  const answered = async <T>(what: string, answer: Promise<T | null>): Promise<T> => {
    const value = await answer;
    if (value === null) throw new NoAnswer(what);
    return value;
  };
  const ownerOf: ChainFacts['ownerOf'] = (contract, tokenId) =>
    once(`owner ${contract} ${tokenId}`, () => reader.ownerOf(contract, tokenId, block));
  return {
    ownerOf,
    balanceOf: async ({ contract, tokenId, standard }, account) => {
      if (standard === 'erc721') return (await ownerOf(contract, tokenId)) === account ? 1n : 0n;
      return once(`balance ${contract} ${tokenId} ${account}`, () =>
        answered('balanceOf', reader.balanceOf(contract, account, tokenId, block)),
      );
    },
    isApproved: async ({ contract, tokenId, standard }, account, operator) => {
      const forAll = await once(`approval ${contract} ${account} ${operator}`, () =>
        answered('isApprovedForAll', reader.isApprovedForAll(contract, account, operator, block)),
      );
      if (forAll || standard === 'erc1155') return forAll;
      const one = await once(`approved ${contract} ${tokenId}`, () => reader.getApproved(contract, tokenId, block));
      return one === operator;
    },
    counterOf: (protocol, offerer) =>
      once(`counter ${protocol} ${offerer}`, () => answered('getCounter', reader.getCounter(protocol, offerer, block))),
    statusOf: (protocol, orderHash) =>
      once(`status ${protocol} ${orderHash}`, () =>
        answered('getOrderStatus', reader.getOrderStatus(protocol, orderHash, block)),
      ),
  };
}
