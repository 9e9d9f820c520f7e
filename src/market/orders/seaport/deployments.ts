// Lists the deployments of Seaport on a chain. Computes which account an offerer must approve. Recognises the marketplace of an order or a
// fill. The addresses of deployments are in platform/core/chains.ts for each chain. They cannot be computed, because a chain may have several
// deployments of one version, or none.

import type { Address } from '../../../platform/core/address.ts';
import type { Chain, SeaportDeployment } from '../../../platform/core/chains.ts';
import { CANONICAL_SEAPORT } from '../../../platform/core/chains.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_HASH } from '../../../platform/core/evm.ts';
import { keccak256, keccak256OfText } from '../../../platform/core/keccak.ts';
import type { Protocol } from './order.ts';

/** The deployments that the setting SEAPORT_ADDRESSES adds, by chain. */
export type MoreDeployments = ReadonlyMap<string, readonly SeaportDeployment[]>;

/**
 * All deployments on a chain: first those of `more` in reverse order, then the built-in ones from the newest version to the oldest. If an
 * address is repeated, its first deployment in this order counts. Empty for a chain that is not an EVM chain.
 */
export function listProtocols(chain: Chain, more: MoreDeployments): Protocol[] {
  const { chainId } = chain;
  if (chainId === null || chain.family !== 'evm') return [];
  const deployments = [...chain.seaport, ...(more.get(chain.id) ?? [])].toReversed();
  return deployments
    .filter(({ address }, index) => deployments.findIndex((other) => other.address === address) === index)
    .map(({ address, version }) => ({ address, version, chainId }));
}

const CONDUIT_CONTROLLER = '0x00000000F9490004C11Cef243f5400493c00Ad63';
/** The keccak256 hash of the creation code that every conduit of CONDUIT_CONTROLLER has. */
const CONDUIT_CODE_HASH = '0x023d904f2503c37127200ca07b976c3a53cc562623f67023115bf311f5805059';
const WITH_CANONICAL_CONTROLLER: ReadonlySet<string> = new Set(CANONICAL_SEAPORT.map(({ address }) => address));

/**
 * The account that the offerer must approve to transfer the token: the deployment itself if the conduit key is 0, otherwise the conduit of
 * the key. Null if the key is not 0 and the conduit controller of the deployment is not known.
 */
export function findOperator(protocol: Pick<Protocol, 'address'>, conduitKey: Hex): Address | null {
  if (conduitKey === ZERO_HASH) return protocol.address;
  return WITH_CANONICAL_CONTROLLER.has(protocol.address) ? toConduit(conduitKey) : null;
}

const ADDRESS_DIGITS = 40;

/** Computes the address of a conduit from its key (CREATE2, EIP-1014). The conduit need not be deployed yet. */
function toConduit(key: Hex): Address {
  const digest = keccak256(`0xff${CONDUIT_CONTROLLER.slice(2)}${key.slice(2)}${CONDUIT_CODE_HASH.slice(2)}`);
  return `0x${digest.slice(-ADDRESS_DIGITS)}` as Address;
}

/**
 * Slugs of marketplaces by their domain. The first four bytes of the domain's keccak256 hash mark the orders and fills of a marketplace.
 * The salt of an order begins with these bytes, and the call data of a fill ends with them.
 */
const SLUGS_BY_DOMAIN: Readonly<Record<string, string>> = {
  'opensea.io': 'opensea',
  'pro.opensea.io': 'opensea-pro',
  'gem.xyz': 'gem',
  'magiceden.io': 'magic-eden',
  'blur.io': 'blur',
  'rarible.com': 'rarible',
  'looksrare.org': 'looksrare',
  'reservoir.tools': 'reservoir',
  'mint.fun': 'mint-fun',
  'alphasharks.io': 'alpha-sharks',
  'flip.xyz': 'flip',
};

const SLUGS_BY_TAG = new Map(Object.entries(SLUGS_BY_DOMAIN).map(([domain, slug]) => [toDomainTag(domain), slug]));

/** Slugs of marketplaces by the account that receives the marketplace fee. */
const SLUGS_BY_FEE_RECIPIENT: Readonly<Record<string, string>> = {
  '0x0000a26b00c1f0df003000390027140000faa719': 'opensea',
  '0x5b3256965e7c3cf26e11fcaf296dfc8807c01073': 'opensea',
  '0x8de9c5a032463c561423387a9648c5c7bcc5bc90': 'opensea',
  '0x1838de7d4e4e42c8eb7b204a91e28e9fad14f536': 'looksrare',
  '0x3d279ac86c66f1b419046c287c0f1fab8e86efca': 'alienswap',
};

/** The first four bytes of the domain's keccak256 hash, which mark orders and fills of the marketplace. */
export function toDomainTag(domain: string): Hex {
  return keccak256OfText(domain).slice(0, 10) as Hex;
}

/** Returns the slug of the marketplace that marks its orders and fills with these four bytes. Null if no known marketplace does. */
export function findMarketplaceByTag(tag: Hex): string | null {
  return SLUGS_BY_TAG.get(tag) ?? null;
}

/** Returns the slug of the marketplace that receives its fee in this account. Null if no known marketplace does. */
export function findMarketplaceByFeeRecipient(recipient: string): string | null {
  return Object.hasOwn(SLUGS_BY_FEE_RECIPIENT, recipient) ? (SLUGS_BY_FEE_RECIPIENT[recipient] ?? null) : null;
}
