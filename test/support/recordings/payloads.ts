// Lists every file of `../shared/data/payloads` with its kind and the path where its vendor serves it. The replay servers serve the
// recorded responses unchanged, even those of operations that the service does not call.

import type { Origin, ReplayRequest, Route } from '../replay/replay.ts';
import { findRecording, listRecordings, needsRecordings, readRecording } from './recordings.ts';

const VENDORS = ['coinbase', 'coingecko', 'magic-eden', 'helius', 'opensea', 'reservoir'] as const;
export type Vendor = (typeof VENDORS)[number];

export type RecordedResponse = {
  what: 'answer';
  vendor: Vendor;
  origin: Origin;
  /**
   * The path where the vendor serves the response. It includes the query if different queries have different responses. For JSON-RPC, the
   * method follows a `#`.
   */
  path: string;
  /** Whether the service calls the operation of the vendor that gave this response. */
  asked: boolean;
  /** The test file with the expected records of responses in this shape. */
  contract?: string;
};

export type RecordedFile =
  | RecordedResponse
  /** The query that belongs to a recorded response, or a message that the vendor pushed. */
  | { what: 'query' | 'message'; vendor: Vendor }
  | { what: 'document'; vendor: Vendor }
  | { what: 'notes' };

const answer = (vendor: Vendor, path: string, more: Partial<RecordedResponse> = {}): RecordedResponse => ({
  what: 'answer',
  vendor,
  origin: 'recorded',
  path,
  asked: false,
  ...more,
});
const example = (path: string, more: Partial<RecordedResponse> = {}) =>
  answer('magic-eden', path, { origin: 'example', ...more });
const priceExample = (path: string) => answer('coingecko', path, { origin: 'example' });
const askedIn = (contract: string) => ({ asked: true, contract });
const MAGIC_EDEN_EVM_TEST = 'test/sources/upstreams/magic-eden/evm.test.ts';
const MAGIC_EDEN_TEST = 'test/sources/upstreams/magic-eden/solana.test.ts';
const SEAPORT_TEST = 'test/recordings/seaport-orders.test.ts';

const WALLET = '/v2/wallets/4wejSnr97csngztZ5SU7A6iZRXJD7B3Y1R1koCQ5NjmD';
const MINT = '/v2/tokens/6XkPLDtV2w17UUsyzah39PTBjZ9xTY8HokqRdWcmDhBa';
const SIMPLE_PRICE = '/api/v3/simple/price';
const ME = 'magiceden-solana';

export const RECORDED: Readonly<Record<string, RecordedFile>> = {
  'coinbase/v2_exchange-rates_ETH.partial.json': answer('coinbase', '/v2/exchange-rates?currency=ETH'),
  'coinbase/v2_prices_ETH-USD_spot.json': answer(
    'coinbase',
    '/v2/prices/ETH-USD/spot',
    askedIn('test/sources/upstreams/prices/tasks.test.ts'),
  ),
  'coingecko/coins_markets.openapi-example.json': priceExample('/api/v3/coins/markets?vs_currency=usd'),
  'coingecko/nfts_id.openapi-example.json': priceExample('/api/v3/nfts/pudgy-penguins'),
  // The price of a coin that the service does not read.
  'coingecko/simple_price.openapi-example.json': priceExample(`${SIMPLE_PRICE}?ids=bitcoin`),
  // One response on each line.
  'coingecko/simple_price.recorded.txt': answer(
    'coingecko',
    `${SIMPLE_PRICE}?ids=solana`,
    askedIn('test/recordings/vendor-responses.test.ts'),
  ),
  'coingecko/simple_token_price_id.openapi-example.json': priceExample('/api/v3/simple/token_price/ethereum'),
  'helius/getAssetsByCreator.famous-fox.50.json': answer('helius', '/#getAssetsByCreator', {
    contract: 'test/sources/upstreams/das/assets.test.ts',
  }),
  'helius/getAssetsByOwner.50.json': answer('helius', '/#getAssetsByOwner', {
    contract: 'test/sources/upstreams/das/assets.test.ts',
  }),
  'helius/helius-openapi.json': { what: 'document', vendor: 'helius' },
  'magiceden-evm/magic-eden-evm-openapi.yml': { what: 'document', vendor: 'magic-eden' },
  // This response is from an older API. The service calls a newer API.
  'magiceden-evm/orders_asks_v5.me-evm-v3-rtp.json': answer('magic-eden', '/v3/rtp/ethereum/orders/asks/v5', {
    contract: MAGIC_EDEN_EVM_TEST,
  }),
  [`${ME}/magic-eden-solana-openapi.yml`]: { what: 'document', vendor: 'magic-eden' },
  [`${ME}/recorded_collections_listings.degods-2025-07.json`]: example('/v2/collections/degods/listings', {
    origin: 'recorded',
    ...askedIn(MAGIC_EDEN_TEST),
  }),
  [`${ME}/rpc_legacy.1.json`]: answer(
    'magic-eden',
    '/rpc/getNFTByMintAddress/7Y5ZoSVRxzijRocc1w1ycwFws8EcaAKbQgaW1qewfxRy',
  ),
  [`${ME}/rpc_legacy.2.json`]: { what: 'query', vendor: 'magic-eden' },
  [`${ME}/rpc_legacy.3.json`]: answer('magic-eden', '/rpc/getBiddingsByQuery'),
  [`${ME}/rpc_legacy.4.json`]: { what: 'query', vendor: 'magic-eden' },
  [`${ME}/rpc_legacy.5.json`]: answer('magic-eden', '/rpc/getListedNFTsByQuery'),
  [`${ME}/rpc_legacy.6.json`]: answer('magic-eden', '/rpc/getNFTsByOwner/4nexRvdaGKKSrf9WAFF2mVLSsFiZ4n22ue2kDQzq2MEz'),
  [`${ME}/rpc_legacy.7.json`]: { what: 'query', vendor: 'magic-eden' },
  [`${ME}/rpc_legacy.8.json`]: answer('magic-eden', '/rpc/getGlobalActivitiesByQuery'),
  [`${ME}/v2_collections.json`]: example('/v2/collections'),
  [`${ME}/v2_collections_symbol_activities.json`]: example(
    '/v2/collections/magicticket/activities',
    askedIn(MAGIC_EDEN_TEST),
  ),
  [`${ME}/v2_collections_symbol_holder_stats.json`]: example('/v2/collections/magicticket/holder_stats'),
  [`${ME}/v2_collections_symbol_leaderboard.json`]: example('/v2/collections/magicticket/leaderboard'),
  [`${ME}/v2_collections_symbol_listings.json`]: example(
    '/v2/collections/magicticket/listings',
    askedIn(MAGIC_EDEN_TEST),
  ),
  [`${ME}/v2_collections_symbol_stats.json`]: example('/v2/collections/magicticket/stats', askedIn(MAGIC_EDEN_TEST)),
  [`${ME}/v2_launchpad_collections.json`]: example('/v2/launchpad/collections'),
  [`${ME}/v2_mmm_pools.json`]: example('/v2/mmm/pools?collectionSymbol=okay_bears'),
  [`${ME}/v2_mmm_token_mint_address_pools.json`]: example(
    '/v2/mmm/token/6eGfgGuxA1pBtTX4k2oubpa6m1Z3eaJUBxgtZFB7sjZA/pools',
  ),
  [`${ME}/v2_tokens_token_mint.json`]: example(
    '/v2/tokens/4uvpqEL73361hRXCrHqBZQWeqfbKPQw55yKSFZvLQYTq',
    askedIn(MAGIC_EDEN_TEST),
  ),
  [`${ME}/v2_tokens_token_mint_activities.json`]: example(`${MINT}/activities`),
  [`${ME}/v2_tokens_token_mint_listings.json`]: example(`${MINT}/listings`),
  [`${ME}/v2_tokens_token_mint_offers_received.json`]: example(`${MINT}/offers_received`),
  [`${ME}/v2_wallets_owner_activities.json`]: example('/v2/wallets/owner/activities'),
  [`${ME}/v2_wallets_wallet_address.json`]: example(WALLET),
  [`${ME}/v2_wallets_wallet_address_activities.json`]: example(`${WALLET}/activities`),
  [`${ME}/v2_wallets_wallet_address_escrow_balance.json`]: example(`${WALLET}/escrow_balance`),
  [`${ME}/v2_wallets_wallet_address_offers_made.json`]: example(`${WALLET}/offers_made`),
  [`${ME}/v2_wallets_wallet_address_offers_received.json`]: example(`${WALLET}/offers_received`),
  [`${ME}/v2_wallets_wallet_address_tokens.json`]: example(`${WALLET}/tokens`),
  'opensea/collections_slug_stats.recorded.json': answer(
    'opensea',
    '/api/v2/collections/the-weirdo-ghost-gang/stats',
    askedIn('test/sources/upstreams/opensea/collection.test.ts'),
  ),
  'opensea/openapi.opensea-2026-08.json': { what: 'document', vendor: 'opensea' },
  // From the API of 2023. Its orders have another format than the listings of the current API.
  'opensea/orders_listings_v2.seaport15.json': answer('opensea', '/api/v2/orders/ethereum/seaport/listings', {
    contract: SEAPORT_TEST,
  }),
  'pyth/feed_ids.txt': { what: 'notes' },
  'reservoir/orders_asks_v4_v5.json': answer('reservoir', '/orders/asks/v5', { contract: SEAPORT_TEST }),
  // The rows do not contain the signed orders.
  'reservoir/orders_bids_v5.50.json': answer('reservoir', '/orders/bids/v5'),
  'reservoir/ws_sale_payload-before-empty.json': { what: 'message', vendor: 'reservoir' },
};

const PREFIX = 'payloads/';

/** The names of the recorded payloads. Null if the recordings are missing. */
export function listPayloads(): string[] | null {
  const names = listRecordings()?.filter((name) => name.startsWith(PREFIX));
  return names?.map((name) => name.slice(PREFIX.length)) ?? null;
}

/** Like `needsRecordings`, for the named payloads. Without names, the test needs the folder of the payloads. */
export function needsPayloads(...names: readonly string[]): { skip?: string } {
  return needsRecordings(...(names.length === 0 ? [PREFIX] : names.map((name) => PREFIX + name)));
}

/** Like `readRecording`, for the named payload. */
export function readPayload(name: string): string {
  return readRecording(PREFIX + name);
}

/** Like `findRecording`, for the named payload. */
export function findPayload(name: string): string | null {
  return findRecording(PREFIX + name);
}

/** The recorded price responses of CoinGecko. Each text is one response. */
export function readRecordedPrices(): string[] {
  return toLines(readPayload('coingecko/simple_price.recorded.txt'));
}

function toLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/**
 * The recorded responses of a vendor as routes. There are none if the recordings are missing. Helius has no routes, because its API
 * is JSON-RPC.
 */
export function recordedRoutes(vendor: Vendor): Route[] {
  const byPath = new Map<string, Route>();
  for (const [file, { what, ...rest }] of Object.entries(RECORDED)) {
    if (what !== 'answer') continue;
    const { vendor: owner, path, origin } = rest as RecordedResponse;
    const text = owner === vendor ? findPayload(file) : null;
    const [pathname = ''] = path.split(/[?#]/);
    if (text === null || vendor === 'helius') continue;
    const answer = pathname === SIMPLE_PRICE ? answerPrices : () => text;
    byPath.set(pathname, { path: new RegExp(RegExp.escape(pathname)), origin, answer });
  }
  return [...byPath.values()];
}

/** The first recorded response with the price of a requested coin. An empty object if there is none. */
function answerPrices({ query }: ReplayRequest): string {
  const ids = (query.get('ids') ?? '').split(',');
  const recorded = toLines(findPayload('coingecko/simple_price.recorded.txt') ?? '');
  const others = findPayload('coingecko/simple_price.openapi-example.json') ?? '{}';
  return [...recorded, others].find((text) => ids.some((id) => text.includes(`"${id}"`))) ?? '{}';
}

/** The recorded response of a JSON-RPC method, with the id of the request. Null if there is no recording of the method. */
export function findRecordedRpcResponse(method: string, id: unknown): object | null {
  const found = Object.entries(RECORDED).find(([, file]) => file.what === 'answer' && file.path === `/#${method}`);
  const text = found ? findPayload(found[0]) : null;
  return text === null ? null : { ...JSON.parse(text), id };
}
