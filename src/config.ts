// The table of settings, and the only reader of the environment. All mistakes are reported at once, values of secret
// settings are never printed, and no settings at all give a working service. Rows of chains and upstreams: settings/.

import { isIP } from 'node:net';
import path from 'node:path';
import type { Address } from './core/address.ts';
import { parseAnyAddress } from './core/address.ts';
import type { Chain } from './core/chains.ts';
import { createChains, parseExtraChain } from './core/chains.ts';
import { OperatorError } from './core/errors.ts';
import type { LogLevel } from './core/log.ts';
import { LOG_LEVELS } from './core/log.ts';
import type { ChainSettings } from './chains/settings.ts';
import { CHAIN_SETTINGS } from './chains/settings.ts';
import { parseFlag, parseHttpUrl, parseInteger, parseRedisUrl, settingOf } from './core/setting.ts';
import type { UpstreamSettings } from './upstreams/settings.ts';
import { UPSTREAM_SETTINGS } from './upstreams/settings.ts';

export type Config = ServiceSettings & ChainSettings & UpstreamSettings;

type ServiceSettings = {
  port: number;
  host: string;
  /** Where callers reach the service, without a trailing slash; null: derived from host and port. */
  baseUrl: string | null;
  /** Absolute. */
  dataDir: string;
  /** Null: the embedded database in `dataDir`. */
  databaseUrl: string | null;
  /** Null: the indexer is a schema of the primary database. */
  indexerDatabaseUrl: string | null;
  /** Null: each process counts rate limits for itself. */
  redisUrl: string | null;
  serviceName: string;
  extraChain: Chain | null;
  platformFeeBps: number;
  /** Whose `X-Forwarded-For` is believed: that of so many proxies in a row, or of proxies at these addresses. */
  trustProxy: number | readonly string[];
  /** Requests a minute, per key of the store interface. */
  storeRateLimit: number;
  /** Webhooks may go to http and to addresses that are not public. */
  webhookAllowPrivate: boolean;
  sourceTimeoutMs: number;
  /** Labels of shared custody wallets by address. */
  custodyWallets: ReadonlyMap<Address, string>;
  logLevel: LogLevel;
};

const setting = settingOf<ServiceSettings>();

/** One row a setting; docs/settings.md is generated from it. */
export const SETTINGS = [
  setting({
    key: 'port',
    name: 'PORT',
    default: '8080',
    form: 'an integer from 0 to 65535 (0: a free port)',
    meaning: 'The port that both interfaces are served on.',
    parse: (text) => parseInteger(text, 0, 65_535),
  }),
  setting({
    key: 'host',
    name: 'HOST',
    default: '127.0.0.1',
    form: 'a host name or an IP address',
    meaning: 'The address to listen on. `0.0.0.0` or `::` opens the service to the network.',
    parse: (text) => (/^[A-Za-z0-9.:_-]{1,253}$/.test(text) ? text : undefined),
  }),
  setting({
    key: 'baseUrl',
    name: 'BASE_URL',
    default: '',
    form: 'an http or https URL',
    meaning:
      'Where callers reach the service, as shown in the index and the OpenAPI document. Empty: from host and port.',
    parse: (text) => (text === '' ? null : parseHttpUrl(text)),
  }),
  setting({
    key: 'dataDir',
    name: 'DATA_DIR',
    default: './data',
    form: 'a directory',
    meaning: 'Where the embedded database and the local command socket live.',
    parse: (text) => (text.includes('\0') || text === '' ? undefined : path.resolve(text)),
  }),
  setting({
    key: 'databaseUrl',
    name: 'DATABASE_URL',
    default: '',
    form: 'a postgres:// URL',
    meaning: 'The primary database, PostgreSQL 15 or newer. Empty: the embedded database.',
    secret: true,
    parse: parseDatabaseUrl,
  }),
  setting({
    key: 'indexerDatabaseUrl',
    name: 'INDEXER_DATABASE_URL',
    default: '',
    form: 'a postgres:// URL',
    meaning: 'The indexer database, when it is not the primary one.',
    secret: true,
    parse: parseDatabaseUrl,
  }),
  setting({
    key: 'redisUrl',
    name: 'REDIS_URL',
    default: '',
    form: 'a redis:// or rediss:// URL, such as redis://:password@host:6379/0',
    meaning:
      'A Redis or Valkey server through which several nodes share rate limits. Empty: each process counts for itself.',
    secret: true,
    parse: parseRedisUrl,
  }),
  setting({
    key: 'serviceName',
    name: 'SERVICE_NAME',
    default: 'mercat',
    form: '2 to 16 of a-z and 0-9',
    meaning: 'The code of own rows (in upper case) and the prefix of own Solana order ids.',
    parse: (text) => (/^[a-z0-9]{2,16}$/.test(text) ? text : undefined),
  }),
  setting({
    key: 'extraChain',
    name: 'EXTRA_CHAIN',
    default: '',
    form: 'id:family:symbol:decimals[:chainId], such as monad:evm:MON:18:143',
    meaning: 'An eighth chain: accepted and served, but not in the published schema enumerations.',
    parse: (text) => (text === '' ? null : (parseExtraChain(text) ?? undefined)),
  }),
  setting({
    key: 'platformFeeBps',
    name: 'PLATFORM_FEE_BPS',
    default: '200',
    form: 'an integer from 0 to 10000',
    meaning: 'The fee that a buyer pays on top of an own ask, in basis points.',
    parse: (text) => parseInteger(text, 0, 10_000),
  }),
  setting({
    key: 'trustProxy',
    name: 'TRUST_PROXY',
    default: '',
    form: 'true, a number of proxies in a row, or their addresses, CIDR ranges, loopback, linklocal or uniquelocal, comma-separated',
    meaning:
      'The proxies whose X-Forwarded-For is believed when requests are counted by client address. `true` is one proxy. Empty: the header changes nothing.',
    parse: parseTrustProxy,
  }),
  setting({
    key: 'storeRateLimit',
    name: 'STORE_RATE_LIMIT',
    default: '600',
    form: 'an integer from 1 to 100000000',
    meaning: 'Requests a minute that each key of the store interface may make.',
    parse: (text) => parseInteger(text, 1, 100_000_000),
  }),
  setting({
    key: 'webhookAllowPrivate',
    name: 'WEBHOOK_ALLOW_PRIVATE',
    default: 'false',
    form: 'true or false',
    meaning:
      'Webhooks may go to http and to addresses that are not public: for receivers on this machine or network. Whoever has a key then reaches them too.',
    parse: parseFlag,
  }),
  setting({
    key: 'sourceTimeoutMs',
    name: 'SOURCE_TIMEOUT_MS',
    default: '800',
    form: 'an integer from 10 to 60000',
    meaning:
      'The deadline of each read of the indexer and of the order-book lookup, in milliseconds. Five times that with the embedded database.',
    parse: (text) => parseInteger(text, 10, 60_000),
  }),
  setting({
    key: 'custodyWallets',
    name: 'CUSTODY_WALLETS',
    default: '',
    form: 'address=label, comma-separated',
    meaning: 'Shared custody wallets: a token held in one and not listed shows the label instead of an owner.',
    parse: parseCustodyWallets,
  }),
  setting({
    key: 'logLevel',
    name: 'LOG_LEVEL',
    default: 'info',
    form: LOG_LEVELS.join(', '),
    meaning: 'The least severe message that is logged.',
    parse: (text) => LOG_LEVELS.find((level) => level === text),
  }),
  ...CHAIN_SETTINGS,
  ...UPSTREAM_SETTINGS,
] as const;

/** Values of the command line, which win over the environment. */
export type ConfigOverrides = Partial<Record<(typeof SETTINGS)[number]['name'], string>>;

/** What stands before the host of a URL is a secret in any setting. */
const CREDENTIALS = /\/\/.*@/;

/** Reads and checks every setting. Throws one OperatorError that names all mistakes. */
export function readConfig(env: NodeJS.ProcessEnv = process.env, overrides: ConfigOverrides = {}): Config {
  const mistakes = Object.keys(env)
    .filter((name) => name.startsWith('MERCAT_'))
    .map((name) => `${name} is not a setting`);
  const read = (row: (typeof SETTINGS)[number], name: string) => {
    const text = (overrides as Record<string, string | undefined>)[name] ?? env[name]?.trim();
    const value = row.parse(text === undefined || text === '' ? row.default : text);
    if (value === undefined) {
      const shown = row.secret ? '' : `, not ${JSON.stringify(text?.replace(CREDENTIALS, '//…@'))}`;
      mistakes.push(`${name} must be ${row.form}${shown}`);
    }
    return value;
  };
  const config = Object.fromEntries(SETTINGS.map((row) => [row.key, read(row, row.name)])) as Config;
  const chainIds = [...createChains(config.extraChain).values()].filter((chain) => chain.family === 'evm');
  const named = new Map(chainIds.map(({ id }) => [toChainSetting(id), id]));
  for (const name of Object.keys(env)) {
    if (name.startsWith(RPC_URLS.prefix) && !named.has(name)) mistakes.push(`${name} names no EVM chain`);
  }
  const rpcUrls = [...named].flatMap(([name, id]) => {
    const urls = read(RPC_URLS.row, name) as ChainSettings['rpcUrls'] | undefined;
    return [...(urls?.values() ?? [])].map((list) => [id, list] as const);
  });
  if (mistakes.length > 0) throw new OperatorError(`bad settings: ${mistakes.join('; ')}`, { exitCode: 2 });
  return { ...config, rpcUrls: new Map(rpcUrls) };
}

const RPC_URLS = { row: CHAIN_SETTINGS[0], prefix: CHAIN_SETTINGS[0].name.replace('<CHAIN>', '') };

/** The setting with the endpoints of a chain: `RPC_URL_ETHEREUM`. */
export function toChainSetting(chainId: string): string {
  return `${RPC_URLS.prefix}${chainId.toUpperCase().replaceAll('-', '_')}`;
}

/** True when an npm script, or npx, started this process. */
export function isStartedByNpm(env: NodeJS.ProcessEnv = process.env): boolean {
  return env['npm_lifecycle_event'] !== undefined;
}

function parseDatabaseUrl(text: string): string | null | undefined {
  if (text === '') return null;
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol) ? text : undefined;
}

function parseTrustProxy(text: string): number | string[] | undefined {
  if (text === '' || text === 'false') return 0;
  if (text === 'true') return 1;
  const hops = parseInteger(text, 0, 16);
  if (hops !== undefined) return hops;
  const parts = text.split(',').map((part) => part.trim());
  const known = (part: string) => {
    if (part === 'loopback' || part === 'linklocal' || part === 'uniquelocal') return true;
    const [address = '', bits, ...rest] = part.split('/');
    const version = isIP(address);
    if (version === 0 || rest.length > 0) return false;
    return bits === undefined || parseInteger(bits, 0, version === 4 ? 32 : 128) !== undefined;
  };
  return parts.every(known) ? parts : undefined;
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
