// Reads the state of contracts at one block for an audit. All comparisons at that block share the values.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import type { Hex, TokenStandard } from '../../../platform/core/evm.ts';
import type { Funds, FundsKey } from '../../../market/orders/queries/funds.ts';
import type { ContractReads, SeaportOrderStatus } from '../rpc/contract-reads.ts';

/** A contract returned no usable value, or the standard of a token is not known. The audit then cannot compare the stored row. */
export class UnknownFact extends Error {
  override readonly name = 'UnknownFact';
}

type Token = { contract: Address; tokenId: AssetId; standard: TokenStandard };

/** Every method throws UnknownFact, ChainUnavailable or RpcFailure when the fact cannot be read. */
export class ChainFacts {
  readonly #contracts: ContractReads;
  readonly #block: number;
  readonly #wrappedNative: Address | null;
  readonly #reads = new Map<string, Promise<unknown>>();

  constructor(contracts: ContractReads, { block, wrappedNative }: { block: number; wrappedNative: Address | null }) {
    this.#contracts = contracts;
    this.#block = block;
    this.#wrappedNative = wrappedNative;
  }

  /** Null when the token has no owner. */
  ownerOf(contract: Address, tokenId: AssetId): Promise<Address | null> {
    return this.#once(`owner ${contract} ${tokenId}`, () => this.#contracts.ownerOf(contract, tokenId, this.#block));
  }

  async balanceOf({ contract, tokenId, standard }: Token, account: Address): Promise<bigint> {
    if (standard === 'erc721') return (await this.ownerOf(contract, tokenId)) === account ? 1n : 0n;
    return this.#once(`balance ${contract} ${tokenId} ${account}`, () =>
      requireValue('balanceOf', this.#contracts.balanceOf(contract, account, tokenId, this.#block)),
    );
  }

  async isApproved({ contract, tokenId, standard }: Token, account: Address, operator: Address): Promise<boolean> {
    const isApprovedForAll = await this.#once(`approval ${contract} ${account} ${operator}`, () =>
      requireValue('isApprovedForAll', this.#contracts.isApprovedForAll(contract, account, operator, this.#block)),
    );
    if (isApprovedForAll || standard === 'erc1155') return isApprovedForAll;
    const approvedAddress = await this.#once(`approved ${contract} ${tokenId}`, () =>
      this.#contracts.getApproved(contract, tokenId, this.#block),
    );
    return approvedAddress === operator;
  }

  /** What a bidder can pay: the balance of the currency, and how much of it the operator may spend. */
  fundsOf({ account, operator, currency }: FundsKey): Promise<Funds> {
    const contract = currency ?? this.#wrappedNative;
    if (contract === null) throw new UnknownFact('the currency of bids');
    return this.#once(`funds ${contract} ${account} ${operator}`, async () => {
      const [funds = null] = await this.#contracts.funds(contract, [{ account, operator }], this.#block);
      return requireValue('funds', Promise.resolve(funds));
    });
  }

  counterOf(protocol: Address, offerer: Address): Promise<bigint> {
    return this.#once(`counter ${protocol} ${offerer}`, () =>
      requireValue('getCounter', this.#contracts.getCounter(protocol, offerer, this.#block)),
    );
  }

  statusOf(protocol: Address, orderHash: Hex): Promise<SeaportOrderStatus> {
    return this.#once(`status ${protocol} ${orderHash}`, () =>
      requireValue('getOrderStatus', this.#contracts.getOrderStatus(protocol, orderHash, this.#block)),
    );
  }

  /** Reads once for each `key`. The key also determines the type of the value. */
  #once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const started = (this.#reads.get(key) as Promise<T> | undefined) ?? read();
    this.#reads.set(key, started);
    return started;
  }
}

/** Throws UnknownFact when the value is null. */
async function requireValue<T>(what: string, read: Promise<T | null>): Promise<T> {
  const value = await read;
  if (value === null) throw new UnknownFact(what);
  return value;
}
