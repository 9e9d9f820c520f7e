// A local chain. Blocks are mined on request, and their times come from `clock`. The keys of the chain's accounts are public.
// protocol.ts installs the contracts.

import type { Abi, Address, Hex } from 'viem';
import { decodeFunctionResult, encodeDeployData, encodeFunctionData } from 'viem';
import type { HDAccount } from 'viem/accounts';
import { mnemonicToAccount } from 'viem/accounts';
import type { Clock } from '../src/platform/core/clock.ts';
import { startAnvil } from './anvil.ts';
import type { Artifact } from './artifacts.ts';
import type { Rpc } from './rpc.ts';
import { createRpc } from './rpc.ts';

/** The mnemonic from which anvil derives its accounts by default. It is public. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

export type LocalChain = {
  /** The id of the chain in the service, such as `ethereum`. */
  id: string;
  chainId: number;
  url: string;
  rpc: Rpc;
  clock: Clock;
  accounts: readonly HDAccount[];
  stop(): Promise<void>;
};

export type Call = { from: Address; to: Address; data: Hex; value?: bigint };

export type Receipt = {
  transactionHash: Hex;
  status: Hex;
  blockNumber: Hex;
  contractAddress: Address | null;
  logs: { address: Address; topics: Hex[]; data: Hex }[];
};

export type Block = { number: Hex; hash: Hex; parentHash: Hex; timestamp: Hex; transactions: Hex[] };

/** The gas limit of each transaction, enough for every call and deployment of the devnet. */
const GAS_LIMIT = '0xe4e1c0';
/**
 * The most calls in one block. The sum of their gas limits must not exceed the gas limit of the block. Otherwise the block would not
 * contain all of these calls.
 */
const CALLS_MAX = 50;

export async function startChain(options: {
  id: string;
  chainId: number;
  accounts: number;
  clock: Clock;
}): Promise<LocalChain> {
  const { id, chainId, clock } = options;
  const anvil = await startAnvil({ chainId, accounts: options.accounts, timestamp: toSeconds(clock()) });
  const accounts = Array.from({ length: options.accounts }, (_, index) => accountOf(index));
  return { id, chainId, url: anvil.url, rpc: createRpc(anvil.url), clock, accounts, stop: anvil.stop };
}

const derived = new Map<number, HDAccount>();

/** Deriving a key takes 15 ms, so each key is derived once in a process. */
function accountOf(index: number): HDAccount {
  const account = derived.get(index) ?? mnemonicToAccount(MNEMONIC, { addressIndex: index });
  derived.set(index, account);
  return account;
}

export function callOf(
  from: Address,
  to: { address: Address; abi: Abi },
  functionName: string,
  args: readonly unknown[] = [],
  value = 0n,
): Call {
  return { from, to: to.address, data: encodeFunctionData({ abi: to.abi, functionName, args }), value };
}

/** Mines the transaction that `sendOne` sends. No other transaction may be pending. If the transaction fails, its receipt says so. */
export async function mineAlone(chain: LocalChain, sendOne: () => Promise<Hex>): Promise<Receipt> {
  const hash = await sendOne();
  await mine(chain);
  return readReceipt(chain, hash);
}

/**
 * Sends the calls and mines them in their order, at most CALLS_MAX in a block. Throws if a call fails. A failed call is a bug, because
 * callers know the state of the chain.
 */
export async function transact(chain: LocalChain, calls: readonly Call[]): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (let from = 0; from < calls.length; from += CALLS_MAX) {
    const part = calls.slice(from, from + CALLS_MAX);
    const hashes: Hex[] = [];
    for (const call of part) hashes.push(await send(chain, { ...toWire(call), gas: GAS_LIMIT }));
    await mine(chain);
    for (const [index, hash] of hashes.entries()) {
      const receipt = await readReceipt(chain, hash);
      const call = part[index];
      if (receipt.status !== '0x1' && call)
        throw new Error(`a transaction failed: ${await reasonOf(chain, call, receipt)}`);
      receipts.push(receipt);
    }
  }
  return receipts;
}

export async function deploy(chain: LocalChain, artifact: Artifact, args: readonly unknown[] = []): Promise<Address> {
  const [deployer] = chain.accounts;
  const data = encodeDeployData({ abi: artifact.abi, bytecode: artifact.bytecode, args });
  const hash = await send(chain, { from: deployer?.address, data, gas: GAS_LIMIT });
  await mine(chain);
  const { status, contractAddress } = await readReceipt(chain, hash);
  if (status !== '0x1' || !contractAddress) throw new Error('a contract could not be deployed');
  return contractAddress.toLowerCase() as Address;
}

/** Reads a contract at the newest block. */
export async function readChain(
  chain: LocalChain,
  { address, abi }: { address: Address; abi: Abi },
  functionName: string,
  args: readonly unknown[] = [],
): Promise<unknown> {
  const data = encodeFunctionData({ abi, functionName, args });
  const result = await chain.rpc.call<Hex>('eth_call', { to: address, data }, 'latest');
  return decodeFunctionResult({ abi, functionName, data: result, args });
}

/** Mines one block with all pending transactions. The block has the time of the clock, but no earlier time than its parent block. */
export async function mine(chain: LocalChain): Promise<void> {
  const { timestamp } = await readBlock(chain, 'latest');
  await chain.rpc.call('evm_mine', Math.max(Number(timestamp), toSeconds(chain.clock())));
}

/** If `on` is true, the chain mines a block for each transaction. Tools that do not request blocks need this. */
export async function setAutomine(chain: LocalChain, on: boolean): Promise<void> {
  await chain.rpc.call('evm_setAutomine', on);
}

/**
 * Removes the newest `depth` blocks with their transactions, and changes the miner's address. A new block therefore has another hash than a
 * removed block, even with the same transactions and time.
 */
export async function rollBack(chain: LocalChain, depth: number): Promise<void> {
  const { hash } = await readBlock(chain, 'latest');
  await chain.rpc.call('anvil_rollback', depth);
  await chain.rpc.call('anvil_setCoinbase', `0x${hash.slice(-40)}`);
}

export async function readBlock(chain: LocalChain, at: 'latest' | number): Promise<Block> {
  const number = at === 'latest' ? at : (`0x${at.toString(16)}` as const);
  return chain.rpc.call<Block>('eth_getBlockByNumber', number, false);
}

export async function readHeight(chain: LocalChain): Promise<number> {
  return Number(await chain.rpc.call<Hex>('eth_blockNumber'));
}

export function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function send(chain: LocalChain, transaction: object): Promise<Hex> {
  return chain.rpc.call<Hex>('eth_sendTransaction', transaction);
}

async function readReceipt(chain: LocalChain, hash: Hex): Promise<Receipt> {
  const receipt = await chain.rpc.call<Receipt | null>('eth_getTransactionReceipt', hash);
  if (!receipt) throw new Error(`transaction ${hash} was not mined`);
  return receipt;
}

function toWire({ value = 0n, ...call }: Call) {
  return { ...call, value: `0x${value.toString(16)}` };
}

/** The reason why a call failed. Receipts have no reason, so the call is repeated on the state of the block before. */
async function reasonOf(chain: LocalChain, call: Call, { blockNumber }: Receipt): Promise<string> {
  const before = `0x${(Number(blockNumber) - 1).toString(16)}`;
  const description = `${call.data.slice(0, 10)} to ${call.to}`;
  try {
    await chain.rpc.call('eth_call', toWire(call), before);
    return `${description} (the call succeeds on the state of the block before)`;
  } catch (error) {
    return `${description}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
