// Tests `mercat shops` and `mercat keys`, with and without a running server. One test starts a command as a separate process. The other
// tests run the commands in the process of the test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/service/config.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { openDatabases } from '../../src/platform/database/open.ts';
import { createLog } from '../../src/platform/core/log.ts';
import type { DefineCommand } from '../../src/cli/command.ts';
import { defineKeys } from '../../src/cli/keys.ts';
import { defineShops } from '../../src/cli/shops.ts';
import { runCommand } from '../cli/run-command.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const SECRET = /^mercat_live_[0-9A-Za-z]{36}$/;
const SCOPES = ['products:read', 'inventory:read'];

type Result = { code: number; stdout: string; stderr: string };

forOneEngine('store commands', (engine) => {
  let settings: Record<string, string>;
  before(async () => {
    settings = await engine.settings();
  });

  const COMMANDS: Readonly<Record<string, DefineCommand>> = { shops: defineShops, keys: defineKeys };
  const mercat = (...args: string[]): Promise<Result> =>
    runCommand(COMMANDS[args[0] ?? ''] ?? assert.fail(), args, { env: settings });
  const spawnMercat = async (...args: string[]): Promise<Result> => {
    const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...settings } });
    const result: Result = { code: 0, stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (result.stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (result.stderr += String(chunk)));
    const [code] = (await once(child, 'close')) as [number];
    return { ...result, code };
  };
  /** Asserts that a command with --json succeeded and printed one JSON value on one line. Returns this value. */
  const parse = ({ code, stdout, stderr }: Result): any => {
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^[[{].*[\]}]\n$/);
    return JSON.parse(stdout);
  };
  const json = async (...args: string[]) => parse(await mercat(...args, '--json'));

  describe('the commands without a server', () => {
    test('the secret of a new key is printed once and is not in the database', async () => {
      const shop = parse(await spawnMercat('shops', 'create', 'Corner shop', '--json'));
      assert.deepEqual(shop, { id: shop.id, name: 'Corner shop' });
      assert.deepEqual(await json('shops', 'list'), [shop]);
      const key = await json(
        'keys',
        'create',
        '--shop',
        'Corner shop',
        '--scopes',
        SCOPES.join(', '),
        '--name',
        'till',
        '--expires',
        '90d',
      );
      assert.match(key.secret, SECRET);
      const { id, secret, prefix, expiresAt } = key;
      assert.deepEqual(key, { id, secret, prefix, shop: shop.id, scopes: SCOPES, limits: null, expiresAt });
      assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 90 * 86_400_000) < 60_000);
      const { main, close } = await openDatabases(readConfig(settings), createLog('silent'));
      try {
        assert.ok(!(await everythingIn(main)).includes(secret.slice(-36)));
      } finally {
        await close();
      }
      const listed = await json('keys', 'list', '--shop', shop.id);
      const [{ createdAt }] = listed;
      const expected = {
        id,
        prefix,
        shop: shop.id,
        name: 'till',
        scopes: SCOPES,
        limits: null,
        createdAt,
        expiresAt,
        revokedAt: null,
        lastUsedAt: null,
      };
      assert.deepEqual(listed, [expected]);
    });
  });

  describe('the commands beside a running server', () => {
    let service: TestService;
    before(async () => {
      service = await startTestService({ settings });
    });
    after(() => service.close());
    const statusWith = async (secret: string) =>
      (await fetch(`${service.url}/api/v1/products`, { headers: { authorization: `Bearer ${secret}` } })).status;

    test('a new key is valid immediately, and a revoked key is invalid immediately', async () => {
      assert.match(
        (await mercat('shops', 'create', 'Harbour')).stdout,
        /^created the shop Harbour with the id shop_[0-9a-f]{32}\n$/,
      );
      const { stdout } = await mercat('keys', 'create', '--shop', 'Harbour', '--scopes', 'products:read');
      const [, id = '', secret = ''] = /^key (key_[0-9a-f]{32}) for products:read\n(\S+)\n/.exec(stdout) ?? [];
      assert.match(secret, SECRET);
      assert.equal(await statusWith(secret), 200);
      const next = await json('keys', 'rotate', id, '--overlap', '0.5');
      assert.deepEqual([await statusWith(secret), await statusWith(next.secret)], [200, 200]);
      // No request has used this key, so no node can have it in its cache.
      const unused = await json('keys', 'create', '--shop', 'Harbour', '--scopes', 'products:read');
      assert.deepEqual(await json('keys', 'revoke', unused.id), { id: unused.id, revoked: true });
      assert.equal(await statusWith(unused.secret), 401);
      const { stdout: list } = await mercat('keys', 'list', '--shop', 'Harbour');
      // A line of column headers, and three keys.
      assert.equal(list.trim().split('\n').length, 4);
      assert.match(list, new RegExp(`${unused.id} .* revoked `));
      assert.ok(!list.includes(secret));
    });

    test('a key for reads is created and listed without a shop, with its limits', async () => {
      const key = await json('keys', 'create', '--scopes', 'market:read', '--lists', '9000');
      assert.deepEqual([key.shop, key.limits], [null, { lists: 9_000, items: 15_000 }]);
      const { stdout } = await mercat('keys', 'list');
      assert.match(stdout, new RegExp(`${key.id} .* no shop .* market:read +9000, 15000 `));
      const printed = await mercat('keys', 'create', '--scopes', 'market:read');
      assert.match(printed.stdout, /^key \S+ for market:read, 6000 lists and 15000 items a minute\n/);
      const refused = await mercat('keys', 'create', '--scopes', 'orders:write', '--items', '5');
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, /only a key with the scope market:read has limits/);
    });

    test('an intake key is created and listed without a shop', async () => {
      const key = await json('keys', 'create', '--scopes', 'orders:write,intake:write');
      assert.deepEqual([key.shop, key.scopes], [null, ['orders:write', 'intake:write']]);
      assert.equal(await statusWith(key.secret), 403);
      assert.match((await mercat('keys', 'list')).stdout, new RegExp(`${key.id} .* no shop `));
    });

    test('the name of a shop has up to 160 characters, however many bytes or code units they have', async () => {
      const name = '🦔'.repeat(160);
      assert.equal((await json('shops', 'create', name)).name, name);
      assert.equal((await mercat('shops', 'create', `${name}🦔`)).code, 2);
    });

    test('an error is one line on standard error, with exit code 1 for a failure and 2 for bad usage', async () => {
      const cases: [number, RegExp, string[]][] = [
        [1, /no key "key_x"/, ['keys', 'revoke', 'key_x', '--json']],
        [2, /"products:raed" is not a scope/, ['keys', 'create', '--shop', 'Harbour', '--scopes', 'products:raed']],
      ];
      for (const [code, reason, args] of cases) {
        const result = await mercat(...args);
        assert.deepEqual([result.code, result.stdout], [code, ''], result.stderr);
        assert.match(result.stderr, /^mercat: .+\n$/);
        assert.match(result.stderr, reason);
      }
    });

    test('an operation gives exit code 2 for invalid input, and exit code 1 for a name that is taken or unknown', async () => {
      const calls: [string, Record<string, unknown>][] = [
        ['shops.create', { name: ' ' }],
        ['shops.create', { name: 'n'.repeat(161) }],
        ['keys.create', { shop: 'Harbour', scopes: [] }],
        ['keys.create', { shop: 'Harbour', scopes: ['products:read'], expiresAt: '2001-01-01T00:00:00Z' }],
        ['keys.create', { shop: 'Harbour', scopes: ['products:read'], expiresAt: 'soon 2090' }],
        ['keys.create', { shop: 'Harbour', scopes: ['products:read'], expiresAt: '2090-02-30' }],
        ['keys.create', { shop: 'Harbour', scopes: ['products:read'], expiresAt: '0d' }],
        ['keys.create', { shop: 'Harbour', scopes: ['products:read'], expiresAt: '90 days' }],
        ['keys.create', { shop: 'Harbour', scopes: ['products:read'], name: 'a\u0000' }],
        ['keys.rotate', { id: 'x', overlapMs: -1 }],
        ['keys.rotate', { id: 'x', overlapMs: 1e300 }],
        ['shops.create', { name: 7 }],
        ['shops.create', {}],
      ];
      for (const [operation, input] of calls) {
        const { status, body } = await service.operate(operation, input);
        assert.deepEqual(
          [status, body.mistake?.exitCode],
          [400, 2],
          `${operation} ${JSON.stringify(input)} ${JSON.stringify(body)}`,
        );
      }
      const failures: [string, Record<string, unknown>][] = [
        ['shops.create', { name: ' Harbour ' }],
        ['keys.create', { shop: 'Nobody', scopes: ['products:read'] }],
        ['keys.list', { shop: 'Nobody' }],
        ['keys.rotate', { id: 'key_x' }],
        ['toString', {}],
      ];
      for (const [operation, input] of failures) {
        const { status, body } = await service.operate(operation, input);
        assert.deepEqual([status, body.mistake?.exitCode], [400, 1], operation);
      }
    });
  });
});

describe('bad usage ends with exit code 2 and writes only to standard error', () => {
  const cases: [DefineCommand, string[]][] = [
    [defineShops, ['shops']],
    [defineShops, ['shops', 'create']],
    [defineShops, ['shops', 'create', 'a', 'b']],
    [defineShops, ['shops', 'list', 'a']],
    [defineShops, ['shops', 'delete', 'a']],
    [defineShops, ['shops', 'list', '--jsn']],
    [defineKeys, ['keys']],
    [defineKeys, ['keys', 'create']],
    [defineKeys, ['keys', 'create', '--shop', 'a']],
    [defineKeys, ['keys', 'create', '--scopes', 'orders:write,products:read']],
    [defineKeys, ['keys', 'create', 'x', '--shop', 'a', '--scopes', 'products:read']],
    [defineKeys, ['keys', 'rotate']],
    [defineKeys, ['keys', 'rotate', 'a', '--overlap', 'x']],
    [defineKeys, ['keys', 'rotate', 'a', '--overlap', '']],
    [defineKeys, ['keys', 'rotate', 'a', '--overlap', '1e9']],
    [defineKeys, ['keys', 'revoke', 'a', 'b']],
    [defineKeys, ['keys', 'constructor']],
  ];
  for (const [define, args] of cases) {
    test(`the command \`mercat ${args.join(' ')}\` ends with exit code 2 and writes only to standard error`, async () => {
      const { code, stdout, stderr } = await runCommand(define, args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /./);
    });
  }
});

async function everythingIn(main: Database): Promise<string> {
  const tables = await main.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'main'`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => main.query(`select coalesce(string_agg(t::text, ' '), '') as text from main.${name} t`)),
  );
  return rows.map(([row]) => String(row?.['text'])).join(' ');
}
