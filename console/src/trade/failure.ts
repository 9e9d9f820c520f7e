// Converts errors of a trade to messages for the reader.

import type { Hex } from 'viem';
import { decodeErrorResult } from 'viem';
import { MercatError } from '../../../client/src/market.ts';
import { ERRORS_ABI } from './abis.ts';
import { texts } from './texts.ts';

/** A failure whose message is meant for the reader. */
export class TradeFailure extends Error {
  override readonly name = 'TradeFailure';
  /** The transaction that failed, if one was sent. */
  readonly hash: Hex | null;
  /** True if it is not known whether the trade took place. */
  readonly isUnknown: boolean;
  /** Whether the listing had ended before the trade. */
  readonly hasEnded: boolean;

  constructor(
    message: string,
    {
      hash = null,
      isUnknown = false,
      hasEnded = false,
    }: { hash?: Hex | null; isUnknown?: boolean; hasEnded?: boolean } = {},
  ) {
    super(message);
    this.hash = hash;
    this.isUnknown = isUnknown;
    this.hasEnded = hasEnded;
  }
}

/** The code of EIP-1193 for a request that the user has rejected. */
const REJECTED = 4001;
/** Errors of Seaport about a listing that has ended. */
const ENDED = new Set(['OrderAlreadyFilled', 'OrderIsCancelled']);

export function toTradeFailure(error: unknown): TradeFailure {
  if (error instanceof TradeFailure) return error;
  if (error instanceof MercatError) {
    return error.status === null
      ? new TradeFailure(texts.failed.noService, { isUnknown: true })
      : new TradeFailure(texts.failed.service(error.message));
  }
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === REJECTED) return new TradeFailure(texts.failed.rejected);
  return new TradeFailure(texts.failed.wallet(typeof message === 'string' ? message : String(error)));
}

/** Matches what endpoints say when a contract has stopped a call. Contracts of old compilers stop calls with other opcodes than REVERT. */
const STOPPED =
  /revert|invalid (?:opcode|jump)|bad (?:instruction|jump destination)|out of gas|stack (?:under|over)flow|VM (?:execution|exception)/i;

/** The failure that the chain reported when the call was simulated with `eth_call`. Null if the wallet could not simulate the call. */
export function toRevert(error: unknown): TradeFailure | null {
  if (!isStoppedCall(error)) return null;
  const data = findData(error);
  const reason = data === null ? null : nameError(data);
  const hasEnded = reason !== null && ENDED.has(reason);
  return new TradeFailure(texts.failed.wouldFail(reason === null ? '' : ` (${reason})`), { hasEnded });
}

/** Whether a call failed because the contract has stopped it, as opposed to a failure of the wallet or of its endpoint. */
export function isStoppedCall(error: unknown): boolean {
  const { message = '' } = (error ?? {}) as { message?: string };
  return findData(error) !== null || STOPPED.test(message);
}

/** Finds the error data of the chain, which wallets wrap in errors of their own. */
function findData(error: unknown): Hex | null {
  for (let at = error; typeof at === 'object' && at !== null;) {
    const { data, error: inner, originalError } = at as Record<string, unknown>;
    if (typeof data === 'string' && data.startsWith('0x')) return data as Hex;
    at = originalError ?? inner ?? data;
  }
  return null;
}

function nameError(data: Hex): string | null {
  try {
    const decoded: { errorName: string; args?: readonly unknown[] } = decodeErrorResult({ abi: ERRORS_ABI, data });
    const { errorName, args } = decoded;
    return errorName === 'Error' ? String(args?.[0]) : errorName;
  } catch {
    return null;
  }
}
