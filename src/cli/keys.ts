// `mercat keys`: API keys of the store interface and of the intake. A secret is printed once, when it is made.

import { parseArgs } from 'node:util';
import { INTAKE_SCOPES, needsShop, STORE_SCOPES } from '../shop/keys/scopes.ts';
import { OperatorError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { parseUsage } from './command.ts';
import { callOperator } from './connect-operator.ts';

const HELP = `Usage: mercat keys create [--shop NAME] --scopes a,b [--name N] [--expires D] [--json]
       mercat keys list [--shop NAME] [--json]
       mercat keys rotate ID [--overlap HOURS] [--json]
       mercat keys revoke ID [--json]

Scopes of a shop: ${STORE_SCOPES.join(', ')}. Write does not imply read.
Scopes of the intake: ${INTAKE_SCOPES.join(', ')}. A key for these alone needs no --shop.

  --expires D      when the key ends: a time (2027-01-31T00:00:00Z) or a span from now (90d, 12h)
  --overlap HOURS  how long the old secret goes on working (default 24)
  --json           print one JSON value; of create and rotate {"id", "secret", "prefix", "shop", "scopes", "expiresAt"}

The secret is shown once and stored nowhere. A revoked key stops working within seconds.
`;

type Issued = {
  id: string;
  secret: string;
  prefix: string;
  shop: string | null;
  scopes: string[];
  expiresAt: string | null;
};
type Listed = Omit<Issued, 'secret'> & { name: string | null; revokedAt: string | null; lastUsedAt: string | null };

const HOUR_MS = 60 * 60_000;
const SPANS_MS: Record<string, number> = { h: HOUR_MS, d: 24 * HOUR_MS };

export const keysCommand: Command = {
  name: 'keys',
  summary: 'create, list, rotate and revoke API keys',
  help: HELP,
  run: async (args, { stdout }) => {
    const { values, positionals } = parseUsage(keysCommand, () =>
      parseArgs({
        args,
        allowPositionals: true,
        options: {
          shop: { type: 'string' },
          scopes: { type: 'string' },
          name: { type: 'string' },
          expires: { type: 'string' },
          overlap: { type: 'string' },
          json: { type: 'boolean' },
        },
      }),
    );
    const [action = '', id, ...rest] = positionals;
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    const wantsId = action === 'rotate' || action === 'revoke';
    if (!run || rest.length > 0 || (id !== undefined) !== wantsId) {
      throw new OperatorError('say keys create, list, rotate ID or revoke ID; see mercat keys --help', { exitCode: 2 });
    }
    const { result, words } = await run({ ...values, ...(id !== undefined && { id }) });
    stdout.write(values.json ? `${JSON.stringify(result)}\n` : words);
    return 0;
  },
};

type Values = { shop?: string; scopes?: string; name?: string; expires?: string; overlap?: string; id?: string };
type Shown = { result: unknown; words: string };

const ACTIONS: Record<string, (values: Values) => Promise<Shown>> = {
  create: async ({ shop, scopes, name, expires }) => {
    const wanted = scopes?.split(',').map((scope) => scope.trim());
    if (wanted === undefined || (shop === undefined && wanted.some(needsShop))) {
      const mistake = 'keys create needs --scopes, and --shop for the scopes of a shop; see mercat keys --help';
      throw new OperatorError(mistake, { exitCode: 2 });
    }
    const input = {
      shop,
      name,
      scopes: wanted,
      expiresAt: readExpiry(expires),
    };
    return issued((await callOperator('keys.create', input)) as Issued);
  },
  rotate: async ({ id, overlap }) => {
    const hours = /^\d{1,4}(\.\d{1,6})?$/.test(overlap ?? '24') ? Number(overlap ?? '24') : Number.NaN;
    if (Number.isNaN(hours)) throw new OperatorError('--overlap must be a number of hours', { exitCode: 2 });
    return issued((await callOperator('keys.rotate', { id, overlapMs: hours * HOUR_MS })) as Issued);
  },
  revoke: async ({ id }) => ({ result: await callOperator('keys.revoke', { id }), words: `key ${id} is revoked\n` }),
  list: async ({ shop }) => {
    const keys = (await callOperator('keys.list', { shop })) as Listed[];
    return { result: keys, words: keys.map(toLine).join('') || 'there are no keys yet\n' };
  },
};

function issued(key: Issued): Shown {
  const until = key.expiresAt === null ? '' : `, until ${key.expiresAt}`;
  const words = `key ${key.id} for ${key.scopes.join(', ')}${until}\n${key.secret}\nThis is the only time the secret is shown.\n`;
  return { result: key, words };
}

function toLine(key: Listed): string {
  const end = key.revokedAt === null ? (key.expiresAt ?? 'no end') : `revoked ${key.revokedAt}`;
  return `${key.id}  ${key.prefix}…  ${key.shop ?? 'no shop'}  ${key.name ?? '-'}  ${key.scopes.join(',')}  ${end}  used ${key.lastUsedAt ?? 'never'}\n`;
}

/** A time as it is, or a span from now. */
function readExpiry(text: string | undefined): string | undefined {
  const [, amount, unit = ''] = /^(\d{1,5})([hd])$/.exec(text ?? '') ?? [];
  if (text === undefined || amount === undefined) return text;
  return new Date(Date.now() + Number(amount) * (SPANS_MS[unit] ?? 0)).toISOString();
}
