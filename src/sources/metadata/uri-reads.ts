// Reads the URIs of tokens from their contracts in batches. If the URI of one token cannot be read, the other
// URIs are still read.

import type { ContractUri } from '../chains/rpc/contract-reads.ts';
import type { RpcFailureKind } from '../chains/rpc/rpc-failure.ts';
import { ChainUnavailable, RpcFailure } from '../chains/rpc/rpc-failure.ts';
import type { AssetId } from '../../platform/core/address.ts';
import type { ReadCollection } from './context.ts';

/**
 * Failures of `readEach` that the content of the batch may have caused. After such a failure, the batch is not read again at once, because
 * the breaker of an endpoint counts some of these failures and could open. The next read of the collection uses a smaller batch.
 */
const MAY_BE_THE_BATCH: ReadonlySet<RpcFailureKind> = new Set(['timeout', 'too-large', 'call-failed']);

export class UriReads {
  readonly #sizeMax: number;
  /** The batch sizes below `sizeMax`, by collection id. A size is halved after a failure and doubled after a success. */
  readonly #sizes = new Map<string, number>();
  /** The latest read. The next read waits for its end, because a batch may be large. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  batchSize(collectionId: string): number {
    return this.#sizes.get(collectionId) ?? this.#sizeMax;
  }

  /** Returns the URIs in the order of `assets`, or null if the batch could not be read. Adds the reason of a failure to `problems`. */
  read(
    collection: ReadCollection,
    assets: readonly AssetId[],
    problems: Set<string>,
  ): Promise<readonly ContractUri[] | null> {
    // Endpoints reject an empty batch.
    if (assets.length === 0) return Promise.resolve([]);
    const reading = this.#last.then(() => this.#readBatch(collection, assets, problems));
    this.#last = reading.catch(() => undefined);
    return reading;
  }

  async #readBatch(
    collection: ReadCollection,
    assets: readonly AssetId[],
    problems: Set<string>,
  ): Promise<readonly ContractUri[] | null> {
    const { collectionId } = collection.follow;
    try {
      const uris = await readEach(collection, assets);
      const size = this.batchSize(collectionId) * 2;
      if (size < this.#sizeMax) this.#sizes.set(collectionId, size);
      else this.#sizes.delete(collectionId);
      return uris;
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof RpcFailure)) throw error;
      problems.add(error.message);
      if (!mayBeTheBatch(error)) return null;
      this.#sizes.set(collectionId, Math.max(1, assets.length >> 1));
      return assets.length === 1 ? [UNREADABLE] : null;
    }
  }
}

const UNREADABLE: ContractUri = { kind: 'unreadable' };

/**
 * Reads a batch. If a call cannot be executed or the endpoints disagree, reads the tokens again in smaller batches, down to one token.
 */
async function readEach(collection: ReadCollection, assets: readonly AssetId[]): Promise<readonly ContractUri[]> {
  const { contracts } = collection.reader;
  const { contractAddress, standard } = collection.follow;
  const isOne = assets.length <= 1;
  try {
    const uris = await contracts.tokenUris(contractAddress, standard, assets);
    if (isOne) return uris;
    // An endpoint limits the time and the size of a complete batch, so a call may fail only because of the earlier calls in its batch. Each
    // token with an unreadable URI is therefore read again by itself.
    const each: ContractUri[] = [];
    for (const [index, uri] of uris.entries()) {
      const asset = assets[index];
      const again = uri.kind === 'unreadable' && asset !== undefined ? await readEach(collection, [asset]) : [uri];
      each.push(...again);
    }
    return each;
  } catch (error) {
    if (!isFailureOfCall(error)) throw error;
    if (isOne) return [UNREADABLE];
    const half = assets.length >> 1;
    const first = await readEach(collection, assets.slice(0, half));
    return [...first, ...(await readEach(collection, assets.slice(half)))];
  }
}

/** Whether `error` is a failure of a call and not of an endpoint. Such a failure does not count towards the breaker of the endpoint. */
export function isFailureOfCall(error: unknown): boolean {
  return error instanceof RpcFailure && (error.kind === 'call-failed' || error.kind === 'call-disputed');
}

function mayBeTheBatch(error: ChainUnavailable | RpcFailure): boolean {
  const failures = error instanceof RpcFailure ? [error] : [...error.failures.values()];
  return failures.length > 0 && failures.every(({ kind }) => MAY_BE_THE_BATCH.has(kind));
}
