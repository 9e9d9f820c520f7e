// Reads a chain, and sends transactions to it, through the connected wallet. The page itself sends no request to a chain.

import type { Abi, Address, Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData } from 'viem';
import type { TradingChain } from '../data/service-state.ts';
import type { Connection } from './connection.ts';
import { readNetwork } from './connection.ts';
import { TradeFailure, isStoppedCall, toRevert } from './failure.ts';
import type { Call } from './seaport.ts';
import { texts } from './texts.ts';

const POLL_MS = 500;
const MINED_WITHIN_MS = 180_000;

type Receipt = { status: Hex; blockNumber: Hex };

export class ChainAccess {
  readonly account: Address;
  readonly chain: TradingChain;
  readonly #connection: Connection;

  constructor(connected: Connection, chain: TradingChain) {
    this.account = connected.account;
    this.chain = chain;
    this.#connection = connected;
  }

  request<T>(method: string, params: readonly unknown[] = []): Promise<T> {
    return this.#connection.wallet.provider.request({ method, params }) as Promise<T>;
  }

  /** Throws a TradeFailure if the wallet has changed to another account or to another chain. */
  async requireUnchanged(): Promise<void> {
    const [account] = await this.request<string[]>('eth_accounts');
    const network = await readNetwork(this.#connection.wallet.provider, this.chain);
    if (account?.toLowerCase() !== this.account || network !== 'right') throw new TradeFailure(texts.failed.movedOn);
  }

  async read<T>(address: Address, abi: Abi, functionName: string, args: readonly unknown[] = []): Promise<T> {
    const data = encodeFunctionData({ abi, functionName, args });
    const result = await this.request<Hex>('eth_call', [{ to: address, data }, 'latest']);
    return decodeFunctionResult({ abi, functionName, args, data: result }) as T;
  }

  /**
   * Like `read`, but null if the contract has no result, for example because it has no such function. A failure of the wallet or of its
   * endpoint is thrown, because it says nothing about the contract.
   */
  async find<T>(address: Address, abi: Abi, functionName: string, args: readonly unknown[] = []): Promise<T | null> {
    const data = encodeFunctionData({ abi, functionName, args });
    const result = await this.request<Hex>('eth_call', [{ to: address, data }, 'latest']).catch((error: unknown) => {
      if (isStoppedCall(error)) return null;
      throw error;
    });
    if (result === null) return null;
    try {
      return decodeFunctionResult({ abi, functionName, args, data: result }) as T;
    } catch {
      // The address has no code, or the contract has returned a value of a different type.
      return null;
    }
  }

  /** Throws a TradeFailure if the chain would reject the call now. */
  async rehearse(call: Call): Promise<void> {
    try {
      await this.request('eth_call', [this.#toTransaction(call), 'latest']);
    } catch (error) {
      throw toRevert(error) ?? error;
    }
  }

  /**
   * Sends a transaction, and returns the number of the block that contains it. Throws a TradeFailure if the account or chain of the wallet has
   * changed, if the transaction fails on the chain, or if it is not in a block within MINED_WITHIN_MS.
   */
  async send(call: Call, onSent: () => void): Promise<number> {
    await this.requireUnchanged();
    const hash = await this.request<Hex>('eth_sendTransaction', [this.#toTransaction(call)]);
    onSent();
    for (const deadline = performance.now() + MINED_WITHIN_MS; performance.now() < deadline; await pause(POLL_MS)) {
      const receipt = await this.request<Receipt | null>('eth_getTransactionReceipt', [hash]).catch(() => null);
      if (receipt === null) continue;
      if (Number(receipt.status) === 1) return Number(receipt.blockNumber);
      throw new TradeFailure(texts.failed.reverted, { hash });
    }
    throw new TradeFailure(texts.failed.notMined(hash), { hash, isUnknown: true });
  }

  #toTransaction({ to, data, value }: Call) {
    return { from: this.account, to, data, value: `0x${value.toString(16)}` };
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
