// Finds out what a contract is before it is followed: by ERC-165 if the contract supports it, otherwise by its logs. Contracts of 2017 and 2018
// do not support ERC-165, and some of them emit events in a form that is older than the standards.

import type { Transfer } from '../../market/chain-log/chain-event.ts';
import type { Address, AssetId } from '../../platform/core/address.ts';
import type { TokenStandard } from '../../platform/core/evm.ts';
import type { VerifiedLog } from './protocols/event-decoder.ts';
import type { ProtocolContracts } from './protocols/settlement-protocol.ts';
import { TOKEN_TOPICS } from './protocols/token-standards.ts';
import type { ChainReader } from './rpc/chain-reader.ts';

/**
 * `standard`: null if the contract has neither standard, but events of its own, which a settlement protocol reads (CryptoPunks).
 * `unindexed`: whether arguments of its transfers and approvals may not be indexed (`toIndexed`).
 */
export type TokenForm = { standard: TokenStandard | null; unindexed: boolean };

/** A contract, and the blocks in which its logs are sought. */
export type SoughtContract = { address: Address; from: number; to: number; protocols: ProtocolContracts };

/** The most blocks of one sample. The reader may read fewer, because an endpoint may accept fewer. */
const SAMPLE_BLOCKS_MAX = 50_000;
/** Where samples start, as shares of the range of blocks. The last blocks come first, because the tokens in them still exist. */
const SAMPLES = [1, 0, 0.5];
/** `ownerOf` is called for at most this many tokens. One token is not sufficient, because it may be burnt. */
const TOKENS_MAX = 5;

/** The number of topics of a transfer: with all arguments indexed, as in ERC-721; with none; and with two, as in ERC-20. */
const FORMS = { erc721: 4, unindexed: 1, erc20: 3 };

/** Null if the chain does not show what the contract is. Throws as ChainReader does. */
export async function findTokenForm(reader: ChainReader, sought: SoughtContract): Promise<TokenForm | null> {
  const stated = await reader.contracts.tokenStandard(sought.address);
  if (stated) return { standard: stated, unindexed: false };
  for (const share of SAMPLES) {
    const form = await toTokenForm(reader, sought, await readSample(reader, sought, share));
    if (form) return form;
  }
  return null;
}

/** Whether the contract has decimals, as an ERC-20 contract. Its transfers then may move amounts and not tokens. */
export async function hasDecimals({ contracts }: ChainReader, address: Address): Promise<boolean> {
  return ((await contracts.decimals(address)) ?? 0n) > 0n;
}

type Sample = { logs: readonly VerifiedLog[]; transfers: readonly Transfer[] };

async function readSample(
  reader: ChainReader,
  { address, from, to, protocols }: SoughtContract,
  share: number,
): Promise<Sample> {
  const start = from + Math.floor(share * Math.max(0, to - from - SAMPLE_BLOCKS_MAX + 1));
  if (start > to) return { logs: [], transfers: [] };
  const own = protocols.get(address);
  const { logs, events } = await reader.events.ofRange(start, Math.min(to, start + SAMPLE_BLOCKS_MAX - 1), {
    protocols: new Map(own ? [[address, own]] : []),
    contracts: [address],
    unindexed: new Set([address]),
    isPast: true,
  });
  const transfers = events.filter((event) => event.kind === 'transfer' && event.contract === address);
  return { logs, transfers: transfers as Transfer[] };
}

async function toTokenForm(
  reader: ChainReader,
  { address, protocols }: SoughtContract,
  { logs, transfers }: Sample,
): Promise<TokenForm | null> {
  if (transfers.length === 0) return null;
  if (protocols.has(address)) {
    return { standard: (await hasOwner(reader, address, transfers)) ? 'erc721' : null, unindexed: false };
  }
  const forms = new Set(logs.flatMap(({ topics }) => (topics[0] === TOKEN_TOPICS.transfer ? [topics.length] : [])));
  if (forms.size === 0) return { standard: 'erc1155', unindexed: false };
  const isBoth = logs.some(({ topics: [topic] }) => topic !== undefined && EDITION_TOPICS.has(topic));
  if (isBoth || (await hasDecimals(reader, address))) return null;
  // The token id of a transfer in the form of ERC-20 looks like an amount. Amounts have no owner.
  const isToken = forms.has(FORMS.erc721) || forms.has(FORMS.unindexed) || (await hasOwner(reader, address, transfers));
  return isToken ? { standard: 'erc721', unindexed: forms.has(FORMS.unindexed) || forms.has(FORMS.erc20) } : null;
}

const EDITION_TOPICS: ReadonlySet<string> = new Set([TOKEN_TOPICS.transferSingle, TOKEN_TOPICS.transferBatch]);

/** Whether a token of the last transfers has an owner. */
async function hasOwner(
  { contracts }: ChainReader,
  address: Address,
  transfers: readonly Transfer[],
): Promise<boolean> {
  const tokenIds = new Set<AssetId>(transfers.toReversed().map(({ tokenId }) => tokenId));
  for (const tokenId of [...tokenIds].slice(0, TOKENS_MAX)) {
    if ((await contracts.ownerOf(address, tokenId, 'latest')) !== null) return true;
  }
  return false;
}
