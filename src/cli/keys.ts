// `mercat keys`: API keys of the store API and of the intake. A secret is printed only by the command that creates it.

import { InvalidArgumentError } from '@commander-js/extra-typings';
import { OperatorError } from '../platform/core/errors.ts';
import type { KeyUsage } from '../shop/operations.ts';
import { USAGE_DAYS } from '../shop/operations.ts';
import { READ_KEY_LIMITS } from '../platform/http/rate-limit.ts';
import { INTAKE_SCOPES, needsShop, READ_SCOPE, STORE_SCOPES } from '../shop/keys/scopes.ts';
import type { CommandIo, DefineCommand } from './command.ts';
import { JSON_OPTION } from './command.ts';
import { callService, readService } from './connect.ts';
import { formatTable } from './output.ts';

type Issued = {
  id: string;
  secret: string;
  prefix: string;
  shop: string | null;
  scopes: string[];
  /** Requests a minute, for a key with the scope `market:read`. */
  limits: { lists: number; items: number } | null;
  expiresAt: string | null;
};
type Listed = Omit<Issued, 'secret'> & { name: string | null; revokedAt: string | null; lastUsedAt: string | null };
type Options = { json?: true };

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const SECRET_NOTE = 'The secret is printed only once, because the service stores only a digest of it.';

export const defineKeys: DefineCommand = (keys, io) => {
  keys.description(
    'API keys of the store API, of the intake, and of sites with many readers. A revoked key stops working within seconds.',
  );

  keys
    .command('create')
    .description(`Create a key. ${SECRET_NOTE}`)
    .requiredOption('--scopes <a,b>', 'what the key may do, comma-separated', splitScopes)
    .option('--shop <name>', 'the shop of the key, by name or id; needed for the scopes of a shop')
    .option('--name <name>', 'a name to recognize the key by')
    .option('--lists <n>', 'how many requests for lists a minute a key with market:read may send', parseLimit)
    .option('--items <n>', 'how many other requests a minute a key with market:read may send', parseLimit)
    .option('--expires <when>', 'a time (2027-01-31T00:00:00Z), or a span from now (90d, 12h)')
    .option('--json', JSON_OPTION)
    .addHelpText(
      'after',
      `
Scopes of a shop: ${STORE_SCOPES.join(', ')}. Write does not include read.
Scopes of the intake: ${INTAKE_SCOPES.join(', ')}. A key with only these scopes needs no shop.
Without a shop, intake:write cannot import products.
${READ_SCOPE} raises the rate limits of /v1, /explore/v1 and /mcp to ${READ_KEY_LIMITS.list} requests for lists and ${READ_KEY_LIMITS.single} others a
minute, for example for a site that is rendered on a server. It needs no shop.

Example:
  mercat keys create --shop "Corner shop" --scopes products:read,inventory:read --expires 90d
  mercat keys create --name "our site" --scopes market:read`,
    )
    .action((options) => createKey(options, io));

  keys
    .command('list')
    .description('List keys, without their secrets.')
    .option('--shop <name>', 'only the keys of this shop')
    .option('--json', JSON_OPTION)
    .action((options) => listKeys(options, io));

  keys
    .command('usage')
    .description(
      `Show how many requests each key has sent, those beyond its limit included. With --json, by day (UTC) for ${USAGE_DAYS} days. A running server counts a request within seconds.`,
    )
    .option('--shop <name>', 'only the keys of this shop')
    .option('--json', JSON_OPTION)
    .action((options) => showUsage(options, io));

  keys
    .command('rotate')
    .description(`Replace a key's secret. ${SECRET_NOTE}`)
    .argument('<id>', 'the key')
    .option('--overlap <hours>', 'how long the old secret continues to work', parseHours, 24)
    .option('--json', JSON_OPTION)
    .action((id, options) => rotateKey(id, options, io));

  keys
    .command('revoke')
    .description('Revoke a key.')
    .argument('<id>', 'the key')
    .option('--json', JSON_OPTION)
    .action((id, options) => revokeKey(id, options, io));
};

type CreateOptions = Options & {
  scopes: string[];
  shop?: string;
  name?: string;
  lists?: number;
  items?: number;
  expires?: string;
};

async function createKey(
  { scopes, shop, name, lists, items, expires, json }: CreateOptions,
  { stdout, signal }: CommandIo,
): Promise<void> {
  if (shop === undefined && scopes.some(needsShop)) {
    throw new OperatorError('--shop is needed for the scopes of a shop; see mercat keys create --help', {
      exitCode: 2,
    });
  }
  const key = (await callService(signal, 'keys.create', {
    shop,
    name,
    scopes,
    lists,
    items,
    expiresAt: expires,
  })) as Issued;
  stdout.write(json ? `${JSON.stringify(key)}\n` : describeIssued(key));
}

async function rotateKey(id: string, { overlap, json }: Options & { overlap: number }, { stdout, signal }: CommandIo) {
  const key = (await callService(signal, 'keys.rotate', { id, overlapMs: overlap * HOUR_MS })) as Issued;
  stdout.write(json ? `${JSON.stringify(key)}\n` : describeIssued(key));
}

async function revokeKey(id: string, { json }: Options, { stdout, signal }: CommandIo): Promise<void> {
  const result = await callService(signal, 'keys.revoke', { id });
  stdout.write(json ? `${JSON.stringify(result)}\n` : `key ${id} is revoked\n`);
}

async function listKeys({ shop, json }: Options & { shop?: string }, { stdout, signal }: CommandIo): Promise<void> {
  const keys = (await readService(signal, 'keys.list', { shop })) as Listed[];
  const heads = ['id', 'prefix', 'shop', 'name', 'scopes', 'lists, items a minute', 'end', 'last used'];
  if (json) stdout.write(`${JSON.stringify(keys)}\n`);
  else stdout.write(keys.length > 0 ? formatTable(heads, keys.map(toRow), stdout) : 'there are no keys\n');
}

async function showUsage({ shop, json }: Options & { shop?: string }, { stdout, signal }: CommandIo): Promise<void> {
  const usage = (await readService(signal, 'keys.usage', { shop })) as KeyUsage[];
  const heads = ['id', 'shop', 'name', 'today', '7 days', `${USAGE_DAYS} days`, 'last used'];
  const rows = usage.map(({ id, shop: owner, name, today, days, lastUsedAt }) => {
    const since = (length: number) => toDay(Date.parse(today) - (length - 1) * DAY_MS);
    const sumFrom = (first: string) =>
      days.filter(({ day }) => day >= first).reduce((sum, { requests }) => sum + requests, 0);
    return [
      id,
      owner ?? 'no shop',
      name,
      sumFrom(today),
      sumFrom(since(7)),
      sumFrom(since(USAGE_DAYS)),
      lastUsedAt ?? 'never',
    ];
  });
  if (json) stdout.write(`${JSON.stringify(usage)}\n`);
  else stdout.write(rows.length > 0 ? formatTable(heads, rows, stdout) : 'there are no keys\n');
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function toRow({ id, prefix, shop, name, scopes, limits, revokedAt, expiresAt, lastUsedAt }: Listed) {
  const end = revokedAt === null ? (expiresAt ?? 'none') : `revoked ${revokedAt}`;
  return [
    id,
    `${prefix}…`,
    shop ?? 'no shop',
    name,
    scopes.join(','),
    limits && `${limits.lists}, ${limits.items}`,
    end,
    lastUsedAt ?? 'never',
  ];
}

function describeIssued({ id, scopes, limits, secret, expiresAt }: Issued): string {
  const until = expiresAt === null ? '' : `, until ${expiresAt}`;
  const rates = limits === null ? '' : `, ${limits.lists} lists and ${limits.items} items a minute`;
  return `key ${id} for ${scopes.join(', ')}${rates}${until}\n${secret}\n${SECRET_NOTE}\n`;
}

function splitScopes(text: string): string[] {
  return text.split(',').map((scope) => scope.trim());
}

function parseLimit(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of requests.');
}

function parseHours(text: string): number {
  if (/^\d{1,4}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of hours.');
}
