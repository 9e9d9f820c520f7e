// Updates the chain state that the simulation keeps, after transactions that users sent from their own wallets. The simulation did not plan these
// transactions, so their effects are read from the EVM logs of their receipts.

import type { Address, Hex } from 'viem';
import { isAddressEqual, parseEventLogs, zeroAddress } from 'viem';
import type { Receipt } from './chain.ts';
import type { ChainState } from './chain-state.ts';
import { keyOf, move, setOperator } from './chain-state.ts';
import { addressOf } from './world.ts';
import type { LocalCollection, World } from './world.ts';
import { isTokenItem } from '../src/platform/core/seaport.ts';

type Item = { itemType: number; amount: bigint };
type DecodedEvent = { address: Address; eventName: string; args: Record<string, unknown> };

export function recordEvents({ collections, protocol }: World, state: ChainState, receipt: Receipt): void {
  const { logs } = receipt;
  for (const collection of collections)
    for (const event of decode(logs, collection)) recordTokenEvent(state, collection, event);
  for (const event of decode(logs, protocol.seaport)) recordOrderEvent(state, event, Number(receipt.blockNumber));
}

function decode(logs: Receipt['logs'], { address, abi }: Pick<LocalCollection, 'address' | 'abi'>): DecodedEvent[] {
  const own = logs.filter((log) => isAddressEqual(log.address, address));
  return parseEventLogs({ abi, logs: own as never }) as unknown as DecodedEvent[];
}

function recordTokenEvent(
  state: ChainState,
  { address: contract, standard }: LocalCollection,
  event: DecodedEvent,
): void {
  const { eventName, args } = event;
  const account = (name: string) => addressOf({ address: args[name] as Address });
  const holder = (name: string) => (account(name) === zeroAddress ? null : account(name));
  const moved = (tokenId: bigint, units: bigint) =>
    move(state, { contract, standard, tokenId, units }, holder('from'), holder('to'));
  if (eventName === 'Transfer') moved(args['tokenId'] as bigint, 1n);
  else if (eventName === 'TransferSingle') moved(args['id'] as bigint, args['value'] as bigint);
  else if (eventName === 'TransferBatch') {
    const values = args['values'] as readonly bigint[];
    for (const [index, id] of (args['ids'] as readonly bigint[]).entries()) moved(id, values[index] ?? 0n);
  } else if (eventName === 'ApprovalForAll') {
    const owner = 'owner' in args ? account('owner') : account('account');
    setOperator(state, { contract, owner, operator: account('operator') }, args['approved'] === true);
  } else if (eventName === 'Approval') {
    const key = keyOf({ contract, tokenId: args['tokenId'] as bigint });
    if (account('approved') === zeroAddress) state.tokenOperators.delete(key);
    else state.tokenOperators.set(key, account('approved'));
  }
}

function recordOrderEvent(state: ChainState, { eventName, args }: DecodedEvent, block: number): void {
  const hash = args['orderHash'] as Hex;
  if (eventName === 'OrderCancelled') state.cancelled.add(hash);
  else if (eventName === 'OrderFulfilled') {
    // An ask offers its token, and a bid demands it.
    const items = [...(args['offer'] as readonly Item[]), ...(args['consideration'] as readonly Item[])];
    const sold = items.find(isTokenItem);
    state.filled.set(hash, (state.filled.get(hash) ?? 0n) + (sold?.amount ?? 0n));
  } else if (eventName === 'CounterIncremented') {
    const offerer = addressOf({ address: args['offerer'] as Address });
    state.counters.set(offerer, { value: args['newCounter'] as bigint, block });
  }
}
