// The events of protocols whose sales are made by pools. A pool buys and sells the tokens of one collection. It is a contract of its own that a
// factory has made: a minimal proxy whose code ends with the facts of the pool.

import type { EventPosition, OrderFulfilled, Transfer } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import type { Hex } from '../../core/evm.ts';
import { ZERO_ADDRESS } from '../../core/evm.ts';
import type { VerifiedLog } from './event-decoder.ts';

export type Pool = {
  factory: Address;
  /** The collection whose tokens the pool buys and sells. */
  contract: Address;
  /** The token of which the pool buys and sells units (ERC-1155). Null for a pool of ERC-721 tokens. */
  tokenId: bigint | null;
  /** ZERO_ADDRESS for the native currency. */
  currency: Address;
};

/** `moved`: the transfers of the pool's collection in the transaction, between the log of the previous swap and the log of this swap. */
export type Swap = { log: VerifiedLog; pool: Pool; moved: readonly Transfer[] };

/** Null for a swap that moved no token. Throws UndecodableData. */
export type SwapDecoder = (position: EventPosition, swap: Swap) => OrderFulfilled | null;

export type PoolEvents = {
  /** By first topic. */
  decoders: ReadonlyMap<Hex, SwapDecoder>;
  templates: readonly PoolTemplate[];
};

/** A contract to which pools of one kind delegate their calls. The last bytes of a pool's code are the facts of the pool. */
export type PoolTemplate = {
  /** The function of the factory that returns the address of the template, such as `erc721ETHTemplate()`. */
  getter: string;
  /**
   * The number of the last bytes. They begin with the factory, the curve, the collection (20 bytes each) and the type of the pool (1 byte).
   */
  bytes: number;
  tokenIdAt: number | null;
  currencyAt: number | null;
};

/** The templates of one factory, by address. */
export type FactoryTemplates = { factory: Address; byAddress: ReadonlyMap<Address, PoolTemplate> };

const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
const COLLECTION_AT = 2 * ADDRESS_BYTES;
/** The code of a proxy that appends its last bytes (`facts`) to the call data. The code has their number (`size`) twice. */
const PROXY =
  /^0x3d3d3d3d363d3d3760(?<size>[0-9a-f]{2})603536393660\k<size>013d73(?<template>[0-9a-f]{40})5af43d3d93803e603357fd5bf3(?<facts>[0-9a-f]*)$/;

/**
 * The pool that has this code. Null for any other contract. The code is sufficient evidence: a proxy runs only the code of its template,
 * and the template reads the factory from the last bytes.
 */
export function parsePool(code: Hex, factories: readonly FactoryTemplates[]): Pool | null {
  const { size = '', template: delegate = '', facts = '' } = PROXY.exec(code)?.groups ?? {};
  const addressAt = (byte: number): Address => `0x${facts.slice(2 * byte, 2 * (byte + ADDRESS_BYTES))}` as Address;
  const factory = addressAt(0);
  const templates = factories.find((one) => one.factory === factory)?.byAddress;
  const template = templates?.get(`0x${delegate}` as Address);
  if (!template || Number.parseInt(size, 16) !== template.bytes || facts.length !== 2 * template.bytes) return null;
  const { tokenIdAt, currencyAt } = template;
  return {
    factory,
    contract: addressAt(COLLECTION_AT),
    tokenId: tokenIdAt === null ? null : BigInt(`0x${facts.slice(2 * tokenIdAt, 2 * (tokenIdAt + WORD_BYTES))}`),
    currency: currencyAt === null ? ZERO_ADDRESS : addressAt(currencyAt),
  };
}
