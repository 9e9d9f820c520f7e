// The events of protocols whose sales are made by pools. A pool buys and sells the tokens of one collection. Each pool is a
// contract that a factory has created: a minimal proxy. The last bytes of its code state the parameters of the pool, such as the collection.

import type { EventPosition, OrderFulfilled, Transfer } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
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
  /** By the first topic of the log of a swap. */
  decoders: ReadonlyMap<Hex, SwapDecoder>;
  templates: readonly PoolTemplate[];
};

/** A contract to which pools of one kind delegate their calls, and the layout of the parameters at the end of a pool's code. */
export type PoolTemplate = {
  /** The function of the factory that returns the address of the template, such as `erc721ETHTemplate()`. */
  getter: string;
  /**
   * The length of the parameters in bytes. They begin with the factory, the curve, the collection (20 bytes each) and the type of the pool
   * (1 byte).
   */
  bytes: number;
  /** The offset of the token id in the parameters. Null for pools of ERC-721 tokens. */
  tokenIdAt: number | null;
  /** The offset of the currency in the parameters. Null for pools that use the native currency. */
  currencyAt: number | null;
};

/** The templates of one factory, by address. */
export type FactoryTemplates = { factory: Address; byAddress: ReadonlyMap<Address, PoolTemplate> };

const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
const COLLECTION_AT = 2 * ADDRESS_BYTES;
/** Matches the code of a proxy that appends the parameters (`facts`) to the call data. The code contains their length (`size`) twice. */
const PROXY =
  /^0x3d3d3d3d363d3d3760(?<size>[0-9a-f]{2})603536393660\k<size>013d73(?<template>[0-9a-f]{40})5af43d3d93803e603357fd5bf3(?<facts>[0-9a-f]*)$/;

/**
 * Returns the pool that has this code. Returns null unless the parameters in the code name one of `factories`, and the proxy delegates to a
 * template of that factory. Whether the factory created the proxy is not checked, because every such proxy runs only the code of the template.
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
