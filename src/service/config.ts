// The table of settings. A context may declare its own settings in a `settings.ts`, and this file joins them. Only this file reads settings
// from the environment. All mistakes are reported in one error. Values of secret settings are never printed. Every setting has a default.

import path from 'node:path';
import type { Address } from '../platform/core/address.ts';
import { parseAnyAddress } from '../platform/core/address.ts';
import type { Chain, ChainCurrency } from '../platform/core/chains.ts';
import { createChains, describeCurrencyMistakes, parseCurrencies, parseExtraChain } from '../platform/core/chains.ts';
import { OperatorError } from '../platform/core/errors.ts';
import { isOneTypoApart } from '../platform/core/spelling.ts';
import type { MetricsAddress } from '../platform/core/metrics-address.ts';
import { parseMetricsAddress } from '../platform/core/metrics-address.ts';
import type { Networks } from '../platform/http/networks.ts';
import { parseNetwork, parseNetworks } from '../platform/http/networks.ts';
import type { LogLevel } from '../platform/core/log.ts';
import { LOG_LEVELS } from '../platform/core/log.ts';
import type { ChainSettings } from '../sources/chains/settings.ts';
import { CHAIN_SETTINGS, RPC_URLS_SETTING } from '../sources/chains/settings.ts';
import type { MetadataSettings } from '../sources/metadata/settings.ts';
import { METADATA_SETTINGS } from '../sources/metadata/settings.ts';
import type { StreamSettings } from '../market/explore/stream/settings.ts';
import { STREAM_SETTINGS } from '../market/explore/stream/settings.ts';
import type { Setting, SettingTable } from '../platform/core/setting.ts';
import type { TradingChains } from '../market/orders/trading.ts';
import { parseTradingChains } from '../market/orders/trading.ts';
import { SECRET_KEY_BYTES } from '../platform/core/secret-keys.ts';
import {
  parseFlag,
  parseHttpUrl,
  parseInteger,
  parseRedisUrl,
  readSettings,
  splitList,
} from '../platform/core/setting.ts';
import type { ImageGateways } from '../server/page-description.ts';
import type { TelemetrySettings } from './telemetry/settings.ts';
import { TELEMETRY_SETTINGS } from './telemetry/settings.ts';
import { VENDORS } from '../sources/upstreams/registry.ts';
import type { ConfiguredVendor, Vendor } from '../sources/upstreams/vendor.ts';

export type Config = ServiceSettings &
  TelemetrySettings &
  ChainSettings &
  MetadataSettings &
  StreamSettings & {
    /** The marketplaces and other vendors that the service reads, each with its settings. */
    vendors: readonly ConfiguredVendor[];
    /** The settings that differ from their defaults, by name, as the text that was given. Secrets are masked. */
    given: Readonly<Record<string, string>>;
  };

type ServiceSettings = {
  port: number;
  host: string;
  /** The URL at which callers reach the service, without a trailing slash. Null: derived from host and port. */
  baseUrl: string | null;
  /** An absolute path. */
  dataDir: string;
  /** Null: the embedded database in `dataDir`. */
  databaseUrl: string | null;
  /** Null: the indexer is a schema of the primary database. */
  indexerDatabaseUrl: string | null;
  /** Null: each node counts rate limits for itself. */
  redisUrl: string | null;
  serviceName: string;
  /** The keys that encrypt secrets in the database, 32 bytes each. The first key encrypts new secrets. */
  secretsKeys: readonly Buffer[];
  extraChain: Chain | null;
  /** The ERC-20 currencies in which bids can be paid besides the wrapped native ones. */
  currencies: readonly ChainCurrency[];
  platformFeeBps: number;
  /** The proxies whose `X-Forwarded-For` is trusted: how many of them stand in a row before the service, or their IP addresses. */
  trustProxy: number | readonly string[];
  /** The networks whose requests to the public interfaces are not counted. */
  rateLimitsExempt: Networks;
  /** The limit of requests a minute for each API key of the store interface. */
  storeRateLimit: number;
  /** Whether webhook URLs may use http, and IP addresses that are not public. */
  webhookAllowPrivate: boolean;
  /** Whether the web console is served. */
  console: boolean;
  imageGateways: ImageGateways;
  /** The chains on which the web console offers trading. */
  tradingChains: TradingChains;
  sourceTimeoutMs: number;
  /** For how many days the activity log is kept. */
  activityRetentionDays: number;
  /** The labels of wallets that hold tokens for several owners, by address. */
  custodyWallets: ReadonlyMap<Address, string>;
  logLevel: LogLevel;
  accessLog: boolean;
  /** Null: no metrics are served. */
  metricsAddress: MetricsAddress | null;
  /** Requests are served for this long after SIGTERM. */
  shutdownGraceMs: number;
  /** The number of processes that serve requests. `auto`: one for each core. With the embedded database, `auto` is one process. */
  servingProcesses: number | 'auto';
};

const SERVING_PROCESSES_MAX = 64;

const SERVICE_SETTINGS: SettingTable<ServiceSettings> = {
  port: {
    name: 'PORT',
    default: '8080',
    form: 'an integer from 0 to 65535 (0: a free port)',
    meaning:
      'The port of the HTTP server. This server serves `/v1`, `/explore/v1`, `/api/v1`, `/intake/v1`, `/docs`, and the web console at `/`.',
    parse: (text) => parseInteger(text, 0, 65_535),
  },
  host: {
    name: 'HOST',
    default: '127.0.0.1',
    form: 'a host name or an IP address',
    meaning: 'The address to listen on. `0.0.0.0` or `::` opens the service to the network.',
    parse: (text) => (/^[A-Za-z0-9.:_-]{1,253}$/.test(text) ? text : undefined),
  },
  baseUrl: {
    name: 'BASE_URL',
    default: '',
    form: 'an http or https URL',
    meaning:
      'The URL at which callers reach the service. The response of `/v1` and the OpenAPI documents contain this URL. Empty: derived from host and port.',
    parse: (text) => (text === '' ? null : parseHttpUrl(text)),
  },
  dataDir: {
    name: 'DATA_DIR',
    default: './data',
    form: 'a directory',
    meaning: 'The directory of the embedded database and of the local command socket.',
    parse: (text) => (text.includes('\0') || text === '' ? undefined : path.resolve(text)),
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    default: '',
    form: 'a postgres:// URL',
    meaning: 'The primary database, PostgreSQL 15 or newer. Empty: the embedded database.',
    secret: true,
    parse: parseDatabaseUrl,
  },
  indexerDatabaseUrl: {
    name: 'INDEXER_DATABASE_URL',
    default: '',
    form: 'a postgres:// URL',
    meaning: 'The indexer database. Empty: the indexer is a schema of the primary database.',
    secret: true,
    parse: parseDatabaseUrl,
  },
  redisUrl: {
    name: 'REDIS_URL',
    default: '',
    form: 'a redis:// or rediss:// URL, such as redis://:password@host:6379/0',
    meaning:
      'A Redis or Valkey server through which several nodes share rate limits. Empty: each node counts for itself.',
    secret: true,
    parse: parseRedisUrl,
  },
  serviceName: {
    name: 'SERVICE_NAME',
    default: 'mercat',
    form: '2 to 16 characters, each a-z or 0-9',
    meaning:
      "The name of the service. In upper case, this name is the `marketplace` of the service's own listings and sales. The name is also the prefix of the ids of own orders on Solana, of API keys, of keys in Redis, and of the files of `mercat backup FOLDER`.",
    parse: (text) => (/^[a-z0-9]{2,16}$/.test(text) ? text : undefined),
  },
  secretsKeys: {
    name: 'SECRETS_KEY',
    default: '',
    form: '32 random bytes in Base64, such as openssl rand -base64 32 prints; or several, comma-separated, at most 8',
    meaning:
      'The key that encrypts the secrets of webhooks and of cursors in the database. Further keys only decrypt, while a key is being replaced (docs/security.md). Empty: secrets are stored in clear.',
    secret: true,
    parse: parseSecretsKeys,
  },
  extraChain: {
    name: 'EXTRA_CHAIN',
    default: '',
    form: 'id:family:symbol:decimals[:chainId], such as monad:evm:MON:18:143',
    meaning:
      'A chain in addition to the built-in chains. The chain is accepted and served, but the OpenAPI documents do not list it.',
    parse: (text) => (text === '' ? null : (parseExtraChain(text) ?? undefined)),
  },
  currencies: {
    name: 'CURRENCIES',
    default: '',
    form: 'chain:SYMBOL:address:decimals, comma-separated, such as polygon:WETH:0x7ceb23fd6bc0add59e62ac25578270cff1b9f619:18',
    meaning:
      'ERC-20 currencies on EVM chains in which bids can be paid, besides the wrapped native token of each chain (docs/orders.md#currencies). A bid in a currency that is named no more is not served until the currency is named again. Empty: none.',
    parse: (text) => parseCurrencies(text) ?? undefined,
  },
  platformFeeBps: {
    name: 'PLATFORM_FEE_BPS',
    default: '200',
    form: 'an integer from 0 to 10000',
    meaning: "The fee that a buyer pays in addition to the price of the service's own asks, in basis points.",
    parse: (text) => parseInteger(text, 0, 10_000),
  },
  trustProxy: {
    name: 'TRUST_PROXY',
    default: '',
    form: 'true, a number of proxies in a row, or a comma-separated list of addresses, CIDR ranges, loopback, linklocal and uniquelocal',
    meaning:
      'The proxies whose X-Forwarded-For determines the client address for rate limits. `true` is one proxy. Empty: the header is ignored.',
    parse: parseTrustProxy,
  },
  rateLimitsExempt: {
    name: 'RATE_LIMITS_EXEMPT',
    default: '',
    form: 'a comma-separated list of addresses and CIDR ranges, such as 10.1.2.0/24,2001:db8::/48',
    meaning:
      'Networks whose requests to `/v1`, `/explore/v1`, `/mcp` and the pages are not counted in rate limits, for servers of your own. The address is the one that `TRUST_PROXY` determines. Empty: all requests are counted.',
    parse: parseNetworks,
  },
  storeRateLimit: {
    name: 'STORE_RATE_LIMIT',
    default: '600',
    form: 'an integer from 1 to 100000000',
    meaning: 'How many requests each API key of the store interface may send in a minute.',
    parse: (text) => parseInteger(text, 1, 100_000_000),
  },
  activityRetentionDays: {
    name: 'ACTIVITY_RETENTION_DAYS',
    default: '90',
    form: 'an integer from 1 to 3650',
    meaning: 'For how many days the activity log keeps the changes of the market. Changes of floors are kept for good.',
    parse: (text) => parseInteger(text, 1, 3650),
  },
  webhookAllowPrivate: {
    name: 'WEBHOOK_ALLOW_PRIVATE',
    default: 'false',
    form: 'true or false',
    meaning:
      'Allows webhook URLs with http, and webhook URLs whose host has an IP address that is not public, so that receivers can be on the machine or in the private network of the service. Anyone whose API key has the scope `webhooks:write` can then make the service send requests to this machine and network.',
    parse: parseFlag,
  },
  console: {
    name: 'CONSOLE',
    default: 'on',
    form: 'on or off',
    meaning: 'Whether the web console is served at `/`. The interfaces do not need it.',
    parse: (text) => ({ on: true, off: false })[text],
  },
  imageGateways: {
    name: 'IMAGE_GATEWAYS',
    default: 'ipfs=https://ipfs.io/ipfs,ar=https://arweave.net',
    form: 'ipfs=URL and ar=URL, comma-separated, or none',
    meaning:
      'The gateways from which browsers load pictures of the web console whose URLs begin with `ipfs://` or `ar://`. The path of the picture follows the URL of the gateway. A picture without a gateway is not shown. The interfaces return the URLs unchanged.',
    parse: parseImageGateways,
  },
  tradingChains: {
    name: 'TRADING_CHAINS',
    default: '',
    form: 'chain=hash of its first block, comma-separated',
    meaning:
      'Local and test chains on which the web console offers to trade with a wallet. Signed orders for these chains are also accepted without an API key. The hash keeps wallets from signing for another chain with the same id. `mercat devnet` sets this setting. Empty: no trading.',
    parse: parseTradingChains,
  },
  sourceTimeoutMs: {
    name: 'SOURCE_TIMEOUT_MS',
    default: '800',
    form: 'an integer from 10 to 60000',
    meaning:
      'How long one database read for a request of `/v1` may take, in milliseconds. A read of the collection records in the primary database may take three times as long. With the embedded database both limits are five times as long.',
    parse: (text) => parseInteger(text, 10, 60_000),
  },
  custodyWallets: {
    name: 'CUSTODY_WALLETS',
    default: '',
    form: 'address=label, comma-separated',
    meaning:
      'Wallets that hold tokens for several owners. A token in such a wallet shows the label instead of an owner, unless the token is listed.',
    parse: parseCustodyWallets,
  },
  logLevel: {
    name: 'LOG_LEVEL',
    default: 'info',
    form: `one of ${LOG_LEVELS.join(', ')}`,
    meaning: 'Messages that are less severe than this level are not logged.',
    parse: (text) => LOG_LEVELS.find((level) => level === text),
  },
  accessLog: {
    name: 'ACCESS_LOG',
    default: 'false',
    form: 'true or false',
    meaning: 'Logs one line for each request, at the level `info`.',
    parse: parseFlag,
  },
  metricsAddress: {
    name: 'METRICS_ADDRESS',
    default: '',
    form: 'host:port, [IPv6]:port, or the path of a Unix socket with a slash in it',
    meaning:
      'The address on which Prometheus metrics are served at `/metrics`, without a key. Each further process of `WORKERS` has the next port. Empty: no metrics are served.',
    parse: parseMetricsAddress,
  },
  shutdownGraceMs: {
    name: 'SHUTDOWN_GRACE_MS',
    default: '1000',
    form: 'an integer from 0 to 600000',
    meaning:
      'How long the service continues to serve after SIGTERM, in milliseconds. Meanwhile `/readyz` is 503, so that a balancer sends requests to other nodes. The setting has no effect after SIGINT (Ctrl-C), or with the embedded database.',
    parse: (text) => parseInteger(text, 0, 600_000),
  },
  servingProcesses: {
    name: 'WORKERS',
    default: '1',
    form: `an integer from 1 to ${SERVING_PROCESSES_MAX}, or auto`,
    meaning:
      'How many processes serve requests behind the port (docs/scaling.md). `auto`: one for each core. More than one needs PostgreSQL and `REDIS_URL`.',
    parse: (text) => (text === 'auto' ? text : parseInteger(text, 1, SERVING_PROCESSES_MAX)),
  },
};

/** docs/settings.md is generated from this list. */
export const SETTINGS: readonly Setting<unknown>[] = listSettings(VENDORS);

function listSettings(vendors: readonly Vendor[]): Setting<unknown>[] {
  return [
    ...Object.values<Setting<unknown>>(SERVICE_SETTINGS),
    ...Object.values<Setting<unknown>>(STREAM_SETTINGS),
    ...Object.values<Setting<unknown>>(TELEMETRY_SETTINGS),
    RPC_URLS_SETTING,
    ...Object.values<Setting<unknown>>(CHAIN_SETTINGS),
    ...Object.values<Setting<unknown>>(METADATA_SETTINGS),
    ...vendors.flatMap(({ settings }) => settings),
  ];
}

/** Values by the name of the setting, such as from the command line. They override the environment. */
export type ConfigOverrides = Readonly<Record<string, string>>;

/** Reads and checks every setting. Throws one OperatorError that names all mistakes. */
export function readConfig(
  env: NodeJS.ProcessEnv = process.env,
  overrides: ConfigOverrides = {},
  vendors: readonly Vendor[] = VENDORS,
): Config {
  const textOf = (name: string) => overrides[name] ?? env[name]?.trim() ?? '';
  const read = <V>(setting: Setting<V>, name = setting.name) => setting.parse(textOf(name) || setting.default);
  const describeMistake = (setting: Setting<unknown>, name = setting.name) => {
    if (read(setting, name) !== undefined) return [];
    const rejected = setting.secret ? '' : `, not ${JSON.stringify(textOf(name).replace(CREDENTIALS, '//…@'))}`;
    return [`${name} must be ${setting.form}${rejected}`];
  };
  const chains = createChains(read(SERVICE_SETTINGS.extraChain) ?? null);
  const evmChains = [...chains.values()].filter((chain) => chain.family === 'evm');
  const endpointSettings = new Map(evmChains.map(({ id }) => [toChainSetting(id), id]));
  const mistakes = [
    ...describeUnknownNames(env, endpointSettings),
    ...describeMisspeltNames(env, [...listSettings(vendors).map(({ name }) => name), ...endpointSettings.keys()]),
    ...listSettings(vendors).flatMap((setting) => describeMistake(setting)),
    ...[...endpointSettings.keys()].flatMap((name) => describeMistake(RPC_URLS_SETTING, name)),
    ...describeCurrencyMistakes(chains, read(SERVICE_SETTINGS.currencies) ?? []).map(
      (mistake) => `${SERVICE_SETTINGS.currencies.name} ${mistake}`,
    ),
  ];
  if (mistakes.length > 0) throw new OperatorError(`bad settings: ${mistakes.join('; ')}`, { exitCode: 2 });
  const valueOf = <V>(setting: Setting<V>, name = setting.name): V => {
    const value = read(setting, name);
    if (value === undefined) throw new TypeError(`${name} is in no table of settings`);
    return value;
  };
  const rpcUrls = [...endpointSettings].map(([name, id]) => [id, valueOf(RPC_URLS_SETTING, name)] as const);
  return {
    ...readSettings(SERVICE_SETTINGS, valueOf),
    ...readSettings(STREAM_SETTINGS, valueOf),
    ...readSettings(TELEMETRY_SETTINGS, valueOf),
    ...readSettings(CHAIN_SETTINGS, valueOf),
    ...readSettings(METADATA_SETTINGS, valueOf),
    rpcUrls: new Map(rpcUrls.filter(([, urls]) => urls.length > 0)),
    vendors: vendors.map((vendor) => vendor.configure(valueOf)),
    given: Object.fromEntries(
      [
        ...listSettings(vendors).map((setting) => ({ setting, name: setting.name })),
        ...[...endpointSettings.keys()].map((name) => ({ setting: RPC_URLS_SETTING, name })),
      ].flatMap(({ setting, name }) => {
        const text = textOf(name);
        const isDefault = text === '' || text === setting.default;
        return isDefault ? [] : [[name, setting.secret ? '***' : text.replace(CREDENTIALS, '//…@')]];
      }),
    ),
  };
}

/** The user name and password of a URL, which are secret in every setting. */
const CREDENTIALS = /\/\/.*@/;

/** One mistake for each environment variable that begins like a setting of this service but is not a setting. */
function describeUnknownNames(env: NodeJS.ProcessEnv, endpointSettings: ReadonlyMap<string, string>): string[] {
  return Object.keys(env).flatMap((name) => {
    if (name.startsWith('MERCAT_')) return [`${name} is not a setting`];
    const isOfUnknownChain = name.startsWith(RPC_URLS_PREFIX) && !endpointSettings.has(name);
    return isOfUnknownChain ? [`${name} names no EVM chain`] : [];
  });
}

/** Shorter names are not checked, because they may belong to another program. For example, `CAS_URL` is one letter from `DAS_URL`. */
const MISSPELT_LENGTH_MIN = 9;

/**
 * One mistake for each variable that is one typing mistake away from a setting. If such a variable were ignored, the setting would silently
 * keep its default.
 */
function describeMisspeltNames(env: NodeJS.ProcessEnv, settings: readonly string[]): string[] {
  const known = new Set(settings);
  return Object.keys(env).flatMap((name) => {
    if (name.length < MISSPELT_LENGTH_MIN || known.has(name)) return [];
    const intended = settings.find((setting) => isOneTypoApart(name, setting));
    return intended === undefined ? [] : [`${name} is not a setting: did you mean ${intended}?`];
  });
}

const RPC_URLS_PREFIX = RPC_URLS_SETTING.name.replace('<CHAIN>', '');

/** The name of the setting with the endpoints of a chain, such as `RPC_URL_ETHEREUM`. */
export function toChainSetting(chainId: string): string {
  return `${RPC_URLS_PREFIX}${chainId.toUpperCase().replaceAll('-', '_')}`;
}

/** True if an npm script or npx started this process. */
export function isStartedByNpm(env: NodeJS.ProcessEnv = process.env): boolean {
  return env['npm_lifecycle_event'] !== undefined;
}

function parseDatabaseUrl(text: string): string | null | undefined {
  if (text === '') return null;
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol) ? text : undefined;
}

const SECRETS_KEYS_MAX = 8;

function parseSecretsKeys(text: string): Buffer[] | undefined {
  const parts = splitList(text);
  const keys = parts.map((part) => Buffer.from(part, 'base64'));
  const areKeys = keys.every(
    (key, index) => key.length === SECRET_KEY_BYTES && key.toString('base64') === parts[index],
  );
  const areDifferent = new Set(parts).size === parts.length;
  return areKeys && areDifferent && keys.length <= SECRETS_KEYS_MAX ? keys : undefined;
}

function parseTrustProxy(text: string): number | string[] | undefined {
  if (text === '' || text === 'false') return 0;
  if (text === 'true') return 1;
  const hops = parseInteger(text, 0, 16);
  if (hops !== undefined) return hops;
  const parts = text.split(',').map((part) => part.trim());
  const isProxy = (part: string) =>
    part === 'loopback' || part === 'linklocal' || part === 'uniquelocal' || parseNetwork(part) !== null;
  return parts.every(isProxy) ? parts : undefined;
}

function parseImageGateways(text: string): ImageGateways | undefined {
  const gateways: ImageGateways = {};
  if (text === 'none') return gateways;
  for (const part of splitList(text)) {
    const [, scheme, url] = /^(ipfs|ar)=(.+)$/.exec(part) ?? [];
    const gateway = url === undefined ? undefined : parseHttpUrl(url);
    if (gateway === undefined || (scheme !== 'ipfs' && scheme !== 'ar') || scheme in gateways) return undefined;
    gateways[scheme] = gateway;
  }
  return gateways;
}

function parseCustodyWallets(text: string): Map<Address, string> | undefined {
  const wallets = new Map<Address, string>();
  if (text === '') return wallets;
  for (const part of text.split(',')) {
    const split = part.indexOf('=');
    const address = parseAnyAddress(part.slice(0, Math.max(0, split)).trim());
    const label = part.slice(split + 1).trim();
    if (split < 0 || !address || !label) return undefined;
    wallets.set(address, label);
  }
  return wallets;
}
