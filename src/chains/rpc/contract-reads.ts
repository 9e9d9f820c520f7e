// Reads of what contracts say of themselves, at a block. A contract may answer anything, so that an answer of another form
// than asked for is null, not a lie of the endpoint.

import type { Address, AssetId } from '../../core/address.ts';
import { addressAt, bigintAt, booleanAt, textAt, textOfBytes, UndecodableData } from '../protocols/abi-words.ts';
import { addressWord, bytesWord, encodeCall, encodeCallWithBytes, uintWord } from './call-data.ts';
import { readBytes, toQuantity } from './results.ts';
import type { At, ChainReader } from './chain-reads.ts';
import type { Pool } from './pool.ts';
import { RpcFailure } from './rpc-failure.ts';
import type { Hex } from '../../core/evm.ts';
import { ZERO_ADDRESS } from '../../core/evm.ts';

export type ContractReads = Pick<
  ChainReader,
  | 'ownerOf'
  | 'balanceOf'
  | 'isApprovedForAll'
  | 'getApproved'
  | 'getCounter'
  | 'getOrderStatus'
  | 'isValidSignature'
  | 'code'
  | 'tokenStandard'
  | 'name'
  | 'collectionCreatedAt'
>;

const ERC721 = '0x80ac58cd';
const ERC1155 = '0xd9b67a26';
/** ERC-165 demands that this one is denied: contracts that say yes to all know nothing. */
const NO_INTERFACE = '0xffffffff';
const VALID_SIGNATURE = '0x1626ba7e';
const NAME_LENGTH_MAX = 200;
/** Words of 32 bytes: the length of a name, where it is and some of it. */
const NAME_BYTES_MAX = 4_096;

type Context = { pool: Pool; headNumber: () => Promise<number> };

export function createContractReads({ pool, headNumber }: Context): ContractReads {
  /** Null where the call reverts, or there is no contract. */
  const call = async (to: Address, data: Hex, at: At): Promise<Hex | null> => {
    try {
      const result = await pool.ask(async (endpoint) => {
        const [answer] = await endpoint.callAll([{ method: 'eth_call', params: [{ to, data }, toTag(at)] }]);
        return readBytes(answer, 'the result of a call');
      });
      return result === '0x' ? null : result;
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === 'reverted') return null;
      throw error;
    }
  };

  const code = async (account: Address, at: At): Promise<Hex> =>
    pool.ask(async (endpoint) => {
      const [answer] = await endpoint.callAll([{ method: 'eth_getCode', params: [account, toTag(at)] }]);
      return readBytes(answer, 'code');
    });

  const supports = async (contract: Address, id: Hex) => {
    const data = encodeCall('supportsInterface(bytes4)', [bytesWord(id)]);
    return orNull(await call(contract, data, 'latest'), (result) => booleanAt(result, 0));
  };

  return {
    code,
    ownerOf: async (contract, tokenId, at) => {
      const data = encodeCall('ownerOf(uint256)', [uintWord(BigInt(tokenId))]);
      return orNull(await call(contract, data, at), someAddress);
    },
    getApproved: async (contract, tokenId, at) => {
      const data = encodeCall('getApproved(uint256)', [uintWord(BigInt(tokenId))]);
      return orNull(await call(contract, data, at), someAddress);
    },
    balanceOf: async (contract, owner, tokenId: AssetId, at) => {
      const data = encodeCall('balanceOf(address,uint256)', [addressWord(owner), uintWord(BigInt(tokenId))]);
      return orNull(await call(contract, data, at), (result) => bigintAt(result, 0));
    },
    isApprovedForAll: async (contract, owner, operator, at) => {
      const data = encodeCall('isApprovedForAll(address,address)', [addressWord(owner), addressWord(operator)]);
      return orNull(await call(contract, data, at), (result) => booleanAt(result, 0));
    },
    getCounter: async (protocol, offerer, at) => {
      const data = encodeCall('getCounter(address)', [addressWord(offerer)]);
      return orNull(await call(protocol, data, at), (result) => bigintAt(result, 0));
    },
    getOrderStatus: async (protocol, orderHash, at) => {
      const data = encodeCall('getOrderStatus(bytes32)', [bytesWord(orderHash)]);
      return orNull(await call(protocol, data, at), (result) => ({
        validated: booleanAt(result, 0),
        cancelled: booleanAt(result, 1),
        totalFilled: bigintAt(result, 2),
        totalSize: bigintAt(result, 3),
      }));
    },
    isValidSignature: async (account, digest, signature, at) => {
      const data = encodeCallWithBytes('isValidSignature(bytes32,bytes)', [bytesWord(digest)], signature);
      const result = await call(account, data, at);
      // The standard's four bytes at the front, and nothing but zeros after them in their word.
      return result !== null && result.slice(0, 66) === VALID_SIGNATURE.padEnd(66, '0');
    },
    tokenStandard: async (contract) => {
      const [all, erc721, erc1155] = [
        await supports(contract, NO_INTERFACE),
        await supports(contract, ERC721),
        await supports(contract, ERC1155),
      ];
      if (all !== false || erc721 === erc1155) return null;
      return erc721 ? 'erc721' : erc1155 ? 'erc1155' : null;
    },
    name: async (contract) => {
      return orNull(await call(contract, encodeCall('name()', []), 'latest'), readName);
    },
    collectionCreatedAt: async (contract) => {
      const head = await headNumber();
      try {
        return await firstBlockWith(head, async (block) => (await code(contract, block)) !== '0x');
      } catch (error) {
        if (error instanceof RpcFailure && error.kind === 'no-state') return null;
        throw error;
      }
    },
  };
}

const toTag = (at: At) => (at === 'latest' ? at : toQuantity(at));

/** The lowest block in which `has` is true, given that it stays true from then on; null when it is not at `head`. */
async function firstBlockWith(head: number, has: (block: number) => Promise<boolean>): Promise<number | null> {
  if (!(await has(head))) return null;
  let [low, high] = [0, head];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await has(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function orNull<T>(result: Hex | null, read: (result: Hex) => T | null): T | null {
  if (result === null) return null;
  try {
    return read(result);
  } catch (error) {
    if (error instanceof UndecodableData) return null;
    throw error;
  }
}

function someAddress(result: Hex): Address | null {
  const address = addressAt(result, 0);
  return address === ZERO_ADDRESS ? null : address;
}

/** A string, or as the oldest contracts have it, 32 bytes. */
function readName(result: Hex): string | null {
  if (result.length > 2 + 2 * NAME_BYTES_MAX) return null;
  const text = result.length === 66 ? textOfBytes(result) : textAt(result, 0);
  return text.replaceAll('\0', '').trim().slice(0, NAME_LENGTH_MAX) || null;
}
