// Reads the state of contracts at a block, and compares it with the state that another endpoint has at this block. A contract may return
// anything, so a result that cannot be decoded becomes null and is no failure of the endpoint.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import type { Hex, TokenStandard } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, booleanAt, textAt, textOfBytes, UndecodableData } from '../protocols/abi-words.ts';
import { addressWord, bytesWord, encodeCall, encodeCallWithBytes, uintWord } from './call-data.ts';
import type { EndpointComparison } from './endpoint-comparison.ts';
import type { EndpointPool } from './endpoint-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { RpcFailure } from './rpc-failure.ts';
import { CALL_FAILED, REVERTED } from './rpc-response.ts';
import { readBytes, toQuantity } from './rpc-values.ts';

/** `latest`: the newest block that the endpoints have in common. */
export type AtBlock = number | 'latest';

/**
 * The URI of metadata, as a contract returns it. `none`: no such function, a reverted call, or an empty text. `unreadable`: the endpoint
 * could not execute the call.
 */
export type ContractUri =
  | { kind: 'uri'; uri: string }
  | { kind: 'none' }
  | { kind: 'too-large' }
  | { kind: 'unreadable' };

/** The result of one call of a batch. `failed`: the endpoint could not execute the call. Null: the call reverted or returned no data. */
type CallResult = Hex | 'failed' | null;

/** `isEvidence`: whether a different result shows that an endpoint is wrong, because the code of the contract is known. Default: false. */
type ContractCall = { to: Address; data: Hex; at: AtBlock; isEvidence?: boolean };

export type SeaportOrderStatus = { validated: boolean; cancelled: boolean; totalFilled: bigint; totalSize: bigint };

// Interface ids of ERC-165.
const ERC721 = '0x80ac58cd';
const ERC1155 = '0xd9b67a26';
/** No contract may support this interface id (ERC-165). A contract that claims to support it probably claims to support every interface. */
const NO_INTERFACE = '0xffffffff';
const WORD_BYTES = 32;
const WORD_LENGTH = '0x'.length + 2 * WORD_BYTES;
/** An ERC-1271 contract returns this for a valid signature: four bytes, padded with zeros to a word. */
const VALID_SIGNATURE = '0x1626ba7e'.padEnd(WORD_LENGTH, '0');
const NAME_LENGTH_MAX = 200;
/**
 * The most attempts of one read. A read is repeated if its result was outvoted, or if an endpoint that could confirm the result lacks the
 * block.
 */
const ATTEMPTS_MAX = 3;
/** The longest ABI-encoded name that is decoded, in bytes: offset, length and text. */
const NAME_BYTES_MAX = 4_096;
/** The longest URI that is decoded, in bytes. A data URI contains the metadata and often a picture. */
const URI_BYTES_MAX = 2 ** 20;
/** The sale price for which a royalty is read, so that the royalty is in basis points. */
const WHOLE_BPS = 10_000n;

/**
 * Unless its comment says otherwise, a read is null when the call reverts, when the account has no code, or when the result cannot be
 * decoded. What a contract does when it is called is no evidence about an endpoint: it may read its remaining gas, and fail with any text. Only a
 * different result of a settlement contract shows that an endpoint is wrong. Every read throws ChainUnavailable when no endpoint returns a usable response. It throws RpcFailure of kind `no-state` when no
 * endpoint keeps the state of the block, and of kind `contradicted` when the endpoints return different results, or when another endpoint
 * does not have the block yet (endpoint-comparison.ts).
 */
export class ContractReads {
  readonly #pool: EndpointPool;
  readonly #comparison: EndpointComparison;
  readonly #sharedHead: () => Promise<number>;

  constructor(pool: EndpointPool, comparison: EndpointComparison, sharedHead: () => Promise<number>) {
    this.#pool = pool;
    this.#comparison = comparison;
    this.#sharedHead = sharedHead;
  }

  /** Null for the zero address. */
  ownerOf(contract: Address, tokenId: AssetId, at: AtBlock): Promise<Address | null> {
    const data = encodeCall('ownerOf(uint256)', [uintWord(BigInt(tokenId))]);
    return this.#read({ to: contract, data, at }, nonZeroAddress);
  }

  balanceOf(contract: Address, owner: Address, tokenId: AssetId, at: AtBlock): Promise<bigint | null> {
    const data = encodeCall('balanceOf(address,uint256)', [addressWord(owner), uintWord(BigInt(tokenId))]);
    return this.#read({ to: contract, data, at }, (result) => bigintAt(result, 0));
  }

  isApprovedForAll(contract: Address, owner: Address, operator: Address, at: AtBlock): Promise<boolean | null> {
    const data = encodeCall('isApprovedForAll(address,address)', [addressWord(owner), addressWord(operator)]);
    return this.#read({ to: contract, data, at }, (result) => booleanAt(result, 0));
  }

  /** The account approved to transfer one ERC-721 token. Null for the zero address, which means no account. */
  getApproved(contract: Address, tokenId: AssetId, at: AtBlock): Promise<Address | null> {
    const data = encodeCall('getApproved(uint256)', [uintWord(BigInt(tokenId))]);
    return this.#read({ to: contract, data, at }, nonZeroAddress);
  }

  /**
   * For each key, the balance of the account in an ERC-20 currency, and how much of it the operator may spend, by one batch of calls. Throws RpcFailure of
   * kind `call-failed` when no call can be executed, and of kind `call-disputed` when the endpoints disagree.
   */
  async funds(
    currency: Address,
    keys: readonly { account: Address; operator: Address }[],
    at: AtBlock,
  ): Promise<({ balance: bigint; allowance: bigint } | null)[]> {
    const each = keys.flatMap(({ account, operator }) => [
      encodeCall('balanceOf(address)', [addressWord(account)]),
      encodeCall('allowance(address,address)', [addressWord(account), addressWord(operator)]),
    ]);
    const results = await this.#callAll({ to: currency, each, at, isEvidence: false });
    const amountAt = (index: number) => decodeOrNull(toHex(results[index] ?? null), (result) => bigintAt(result, 0));
    return keys.map((_, index) => {
      const [balance, allowance] = [amountAt(2 * index), amountAt(2 * index + 1)];
      return balance === null || allowance === null ? null : { balance, allowance };
    });
  }

  getCounter(protocol: Address, offerer: Address, at: AtBlock): Promise<bigint | null> {
    const data = encodeCall('getCounter(address)', [addressWord(offerer)]);
    return this.#read({ to: protocol, data, at, isEvidence: true }, (result) => bigintAt(result, 0));
  }

  getOrderStatus(protocol: Address, orderHash: Hex, at: AtBlock): Promise<SeaportOrderStatus | null> {
    const data = encodeCall('getOrderStatus(bytes32)', [bytesWord(orderHash)]);
    return this.#read({ to: protocol, data, at, isEvidence: true }, (result) => ({
      validated: booleanAt(result, 0),
      cancelled: booleanAt(result, 1),
      totalFilled: bigintAt(result, 2),
      totalSize: bigintAt(result, 3),
    }));
  }

  /** Whether a contract accepts the signature (ERC-1271). False when the account is not a contract, or when the call reverts. */
  async isValidSignature(account: Address, digest: Hex, signature: Hex, at: AtBlock): Promise<boolean> {
    const data = encodeCallWithBytes('isValidSignature(bytes32,bytes)', [bytesWord(digest)], signature);
    const result = await this.#call({ to: account, data, at });
    return result !== null && result.slice(0, WORD_LENGTH) === VALID_SIGNATURE;
  }

  /** The code of an account; `0x` when the account has none. */
  async code(account: Address, at: AtBlock): Promise<Hex> {
    const [code] = await this.codes([account], at);
    return code ?? '0x';
  }

  /** The codes of accounts, in the order of `accounts`. */
  codes(accounts: readonly Address[], at: AtBlock): Promise<Hex[]> {
    return this.#readAgreed(at, `code ${accounts.join()}`, async (endpoint, tag) => {
      const requests = accounts.map((account) => ({ method: 'eth_getCode', params: [account, tag] }));
      return (await endpoint.send(requests)).map((result) => readBytes(result, 'code'));
    });
  }

  /** The addresses that functions without arguments return. Null for a function that reverts or returns something else. */
  async addresses(contract: Address, signatures: readonly string[]): Promise<(Address | null)[]> {
    const results = await this.#callEach(
      contract,
      signatures.map((signature) => encodeCall(signature, [])),
    );
    return results.map((result) => decodeOrNull(toHex(result), nonZeroAddress));
  }

  /**
   * The standard that the contract reports through ERC-165. Null if the contract reports both standards or none, claims to support every
   * interface, or does not implement ERC-165.
   */
  async tokenStandard(contract: Address): Promise<TokenStandard | null> {
    const supportsAll = await this.#supports(contract, NO_INTERFACE);
    const isErc721 = await this.#supports(contract, ERC721);
    const isErc1155 = await this.#supports(contract, ERC1155);
    if (supportsAll !== false || isErc721 === isErc1155) return null;
    if (isErc721) return 'erc721';
    return isErc1155 ? 'erc1155' : null;
  }

  /** The number of decimals of an ERC-20 contract. */
  decimals(contract: Address): Promise<bigint | null> {
    return this.#read({ to: contract, data: encodeCall('decimals()', []), at: 'latest' }, (result) =>
      bigintAt(result, 0),
    );
  }

  name(contract: Address): Promise<string | null> {
    return this.#read({ to: contract, data: encodeCall('name()', []), at: 'latest' }, readName);
  }

  /**
   * The URIs of tokens in the order of `tokenIds`, by one batch of calls: `uri` of an ERC-1155 contract, otherwise `tokenURI`. Throws
   * RpcFailure of kind `call-failed` when no call can be executed, and of kind `call-disputed` when the endpoints disagree.
   */
  async tokenUris(
    contract: Address,
    standard: TokenStandard | null,
    tokenIds: readonly AssetId[],
  ): Promise<ContractUri[]> {
    const signature = standard === 'erc1155' ? 'uri(uint256)' : 'tokenURI(uint256)';
    const results = await this.#callEach(
      contract,
      tokenIds.map((tokenId) => encodeCall(signature, [uintWord(BigInt(tokenId))])),
    );
    return results.map(readUri);
  }

  /**
   * The URI of the collection's metadata (ERC-7572), the royalty of a token in basis points (ERC-2981), and the total supply. The royalty is
   * null when the contract reports no royalty, or a royalty above the price.
   */
  async collectionFacts(
    contract: Address,
    tokenId: AssetId,
  ): Promise<{ uri: ContractUri; royaltyBps: number | null; supply: bigint | null }> {
    const [uri = null, royalty = null, supply = null] = await this.#callEach(contract, [
      encodeCall('contractURI()', []),
      encodeCall('royaltyInfo(uint256,uint256)', [uintWord(BigInt(tokenId)), uintWord(WHOLE_BPS)]),
      encodeCall('totalSupply()', []),
    ]);
    const bps = decodeOrNull(toHex(royalty), (result) => bigintAt(result, 1));
    return {
      uri: readUri(uri),
      royaltyBps: bps === null || bps > WHOLE_BPS ? null : Number(bps),
      supply: decodeOrNull(toHex(supply), (result) => bigintAt(result, 0)),
    };
  }

  /**
   * The block in which the contract was created. Null when the address has no code at the head, or when no endpoint keeps the state of a
   * block that the search reads.
   */
  async createdAt(contract: Address): Promise<number | null> {
    const head = await this.#sharedHead();
    try {
      return await firstBlockWhere(head, async (block) => (await this.code(contract, block)) !== '0x');
    } catch (error) {
      if (error instanceof RpcFailure && error.kind === 'no-state') return null;
      throw error;
    }
  }

  #supports(contract: Address, interfaceId: Hex): Promise<boolean | null> {
    const data = encodeCall('supportsInterface(bytes4)', [bytesWord(interfaceId)]);
    return this.#read({ to: contract, data, at: 'latest' }, (result) => booleanAt(result, 0));
  }

  async #read<T>(call: ContractCall, decode: (result: Hex) => T | null): Promise<T | null> {
    return decodeOrNull(await this.#call(call), decode);
  }

  /**
   * Calls a contract at the newest block, once with each call data in `each`, in one batch. If calls fail because of the contract, the
   * endpoint does not count as failed.
   */
  #callEach(to: Address, each: readonly Hex[]): Promise<CallResult[]> {
    return this.#callAll({ to, each, at: 'latest', isEvidence: false });
  }

  /**
   * Null when the call reverts or returns no data, as for an account without code. Throws RpcFailure of kind `call-failed` when no endpoint can execute
   * the call.
   */
  async #call({ to, data, at, isEvidence = false }: ContractCall): Promise<Hex | null> {
    const [result] = await this.#callAll({ to, each: [data], at, isEvidence });
    return toHex(result);
  }

  #callAll({
    to,
    each,
    at,
    isEvidence,
  }: {
    to: Address;
    each: readonly Hex[];
    at: AtBlock;
    isEvidence: boolean;
  }): Promise<CallResult[]> {
    const fetch = async (endpoint: Endpoint, tag: string): Promise<CallResult[]> => {
      const requests = each.map((data) => ({ method: 'eth_call', params: [{ to, data }, tag] }));
      const results = await endpoint.send(requests, { keepsFailedCalls: true }).catch((error: unknown) => {
        // The contract chooses how large the result of its call is.
        if (!(error instanceof RpcFailure && error.kind === 'too-large' && each.length === 1)) throw error;
        return [CALL_FAILED];
      });
      if (results.every((result) => result === CALL_FAILED)) throw new RpcFailure('call-failed', `of ${to}`);
      return results.map((result) => {
        if (result === CALL_FAILED) return 'failed';
        const bytes = result === REVERTED ? '0x' : readBytes(result, 'the result of a call');
        return bytes === '0x' ? null : bytes;
      });
    };
    return this.#readAgreed(at, `${to} ${each.join()}`, fetch, { isEvidence });
  }

  /**
   * Reads state at a block, and has the result compared with the results of other endpoints. `topic` is the same for every attempt to read
   * the same state. If `isEvidence` is false, an endpoint with a different result does not count as failed. An outvoted first result is
   * then replaced, without another attempt, by the result that two endpoints returned.
   */
  async #readAgreed<T>(
    at: AtBlock,
    topic: string,
    fetch: (endpoint: Endpoint, tag: string) => Promise<T>,
    { isEvidence = true }: { isEvidence?: boolean } = {},
  ): Promise<T> {
    // Two endpoints may have different newest blocks, and then different state.
    const block = at === 'latest' && this.#comparison.compares('call') ? await this.#sharedHead() : at;
    for (let attempt = 1; ; attempt += 1) {
      const results = new Map<Endpoint, T>();
      const fetchFrom = async (endpoint: Endpoint) => {
        const result = await fetch(endpoint, toTag(block));
        results.set(endpoint, result);
        return { endpoint, result };
      };
      const fetchSecond = this.#comparison.fetchAhead('call', fetchFrom);
      const first = await this.#pool.read(fetchFrom);
      const verdict = await this.#comparison.judge(
        {
          kind: 'call',
          topic,
          block: block === 'latest' ? 0 : block,
          blocks: 0,
          toComparable: ({ result }) => JSON.stringify(result),
          fetch: fetchSecond,
          isEvidence,
        },
        first,
      );
      if (verdict === 'accepted') return first.result;
      if (verdict === 'outvoted' && !isEvidence) return findRepeated([...results.values()]) ?? first.result;
      if (verdict === 'disputed' && !isEvidence) throw new RpcFailure('call-disputed', `at ${block}`);
      if (verdict === 'disputed' || attempt === ATTEMPTS_MAX)
        throw new RpcFailure('contradicted', `a call at ${block}`);
      // An outvoted result needs no pause, because its endpoint is not called again.
      if (verdict === 'awaited') await this.#pool.pause(attempt);
    }
  }
}

function decodeOrNull<T>(result: Hex | null, decode: (result: Hex) => T | null): T | null {
  if (result === null) return null;
  try {
    return decode(result);
  } catch (error) {
    if (error instanceof UndecodableData) return null;
    throw error;
  }
}

function toHex(result: CallResult | undefined): Hex | null {
  return result === 'failed' ? null : (result ?? null);
}

/** A result that two endpoints returned. */
function findRepeated<T>(results: readonly T[]): T | undefined {
  const texts = results.map((result) => JSON.stringify(result));
  return results.find((_, index) => texts.indexOf(texts[index] ?? '') < index);
}

function readUri(result: CallResult): ContractUri {
  if (result === 'failed') return { kind: 'unreadable' };
  if (result !== null && result.length > '0x'.length + 2 * (URI_BYTES_MAX + 3 * WORD_BYTES))
    return { kind: 'too-large' };
  const uri = decodeOrNull(result, (bytes) => textAt(bytes, 0)) ?? '';
  return uri === '' ? { kind: 'none' } : { kind: 'uri', uri };
}

function toTag(at: AtBlock): string {
  return at === 'latest' ? at : toQuantity(at);
}

/**
 * The first block for which `isTrue` holds. Assumes that `isTrue` also holds for all later blocks. Null if `isTrue` does not hold for
 * `head`.
 */
async function firstBlockWhere(head: number, isTrue: (block: number) => Promise<boolean>): Promise<number | null> {
  if (!(await isTrue(head))) return null;
  let [low, high] = [0, head];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function nonZeroAddress(result: Hex): Address | null {
  const address = addressAt(result, 0);
  return address === ZERO_ADDRESS ? null : address;
}

/** Reads an ABI-encoded string, or the 32 bytes of text that some old contracts return. Null for an empty or too long name. */
function readName(result: Hex): string | null {
  if (result.length > '0x'.length + 2 * NAME_BYTES_MAX) return null;
  const text = result.length === WORD_LENGTH ? textOfBytes(result) : textAt(result, 0);
  return text.replaceAll('\0', '').trim().slice(0, NAME_LENGTH_MAX) || null;
}
