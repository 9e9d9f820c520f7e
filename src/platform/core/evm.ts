// Types and constants of the Ethereum virtual machine (EVM).

import type { Address } from './address.ts';

/** 0x and lower-case hexadecimal digits. */
export type Hex = `0x${string}`;

export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000' as Address;

export const ZERO_HASH: Hex = `0x${'0'.repeat(64)}`;

/** Single tokens (ERC-721), or several equal units of each token (ERC-1155). */
export type TokenStandard = 'erc721' | 'erc1155';
