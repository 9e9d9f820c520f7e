// Tests the defaults of the settings, the values that each setting accepts, and the error for invalid settings.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { SETTINGS, readConfig } from '../../src/service/config.ts';
import { OperatorError } from '../../src/platform/core/errors.ts';
import { toEvmAddress, toSolanaAddress } from '../../sample/random.ts';

const PASSWORD = 'hunter2-s3cret';

/** The error message for these settings. Empty if they are valid. */
function mistakesOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof OperatorError);
    assert.equal(error.exitCode, 2);
    assert.ok(!error.message.includes('\n'), 'the message has more than one line');
    return error.message;
  }
  return '';
}

test('without any setting the service uses the loopback address and the embedded database', () => {
  const config = readConfig({});
  const { port, host, baseUrl, dataDir, databaseUrl, indexerDatabaseUrl, serviceName, extraChain } = config;
  assert.deepEqual([port, host, baseUrl, dataDir], [8080, '127.0.0.1', null, path.resolve('data')]);
  assert.deepEqual([databaseUrl, indexerDatabaseUrl, serviceName, extraChain], [null, null, 'mercat', null]);
  const { platformFeeBps, trustProxy, sourceTimeoutMs, custodyWallets, logLevel } = config;
  assert.deepEqual([platformFeeBps, trustProxy, sourceTimeoutMs, logLevel], [200, 0, 800, 'info']);
  assert.equal(custodyWallets.size, 0);
});

test('the table of settings has one row for each setting, with a form, a meaning and a default', () => {
  assert.equal(new Set(SETTINGS.map((row) => row.name)).size, SETTINGS.length);
  for (const row of SETTINGS) {
    assert.match(row.name, /^[A-Z][A-Z_]+(<CHAIN>)?$/);
    assert.ok(row.form.length > 0 && row.meaning.length > 0, row.name);
    assert.notEqual(row.parse(row.default), undefined, row.name);
  }
});

test('RPC_URL_<CHAIN> sets the endpoints of an EVM chain, which may be the chain of EXTRA_CHAIN', () => {
  const extraChain = { EXTRA_CHAIN: 'monad-two:evm:MON:18:143' };
  const { rpcUrls } = readConfig({
    ...extraChain,
    RPC_URL_BASE: 'http://a.example/key, https://b.example',
    RPC_URL_MONAD_TWO: 'http://c.example',
    RPC_URL_INK: '',
  });
  const read = [...rpcUrls].map(([chain, urls]) => [chain, ...urls]);
  assert.deepEqual(read, [
    ['base', 'http://a.example/key', 'https://b.example'],
    ['monad-two', 'http://c.example'],
  ]);
  for (const name of ['RPC_URL_SOLANA', 'RPC_URL_NOWHERE', 'RPC_URL_MONAD_TWO']) {
    assert.match(mistakesOf({ [name]: 'http://a.example' }), new RegExp(`${name} names no EVM chain`));
  }
  const bad = mistakesOf({ RPC_URL_BASE: 'ftp://a.example/secret' });
  assert.match(bad, /RPC_URL_BASE must be http or https URLs/);
  assert.doesNotMatch(bad, /secret/);
});

test('CURRENCIES names ERC-20 currencies of EVM chains, and each mistake says how to mend it', () => {
  const usdc = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
  const weth = '0x7ceb23fd6bc0add59e62ac25578270cff1b9f619';
  const { currencies } = readConfig({ CURRENCIES: `polygon:WETH:${weth}:18, polygon:USDC:${usdc}:6` });
  assert.deepEqual(
    currencies.map(({ chain, currency }) => [chain, ...Object.values(currency)]),
    [
      ['polygon', weth, 'WETH', 18],
      ['polygon', usdc.toLowerCase(), 'USDC', 6],
    ],
  );
  assert.equal(mistakesOf({ EXTRA_CHAIN: 'tiny:evm:TINY:6', CURRENCIES: `tiny:USDC:${usdc}:6` }), '');
  const malformed = ['polygon', `polygon:USDC:${usdc}`, `polygon:USDC:0x12:6`, `polygon:USDC:${usdc}:37`, 'a,b', ','];
  for (const text of malformed) {
    assert.match(mistakesOf({ CURRENCIES: text }), /CURRENCIES must be chain:SYMBOL:address:decimals/, text);
  }
  const wrapped = '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270';
  const mistakes: [string, RegExp][] = [
    [`solana:USDC:${usdc}:6`, /names the chain solana, but must name one of ethereum, polygon, base/],
    [`nowhere:USDC:${usdc}:6`, /names the chain nowhere, but must name one of ethereum/],
    [`polygon:WPOL:${wrapped}:18`, /the wrapped native token of polygon: leave it out/],
    [`polygon:A:${usdc}:6,polygon:B:${usdc}:6`, /on polygon twice/],
    [`polygon:POL:${usdc}:6`, /on polygon POL, the symbol of another currency: give it a symbol of its own/],
    [`polygon:A:${usdc}:6,polygon:A:${weth}:6`, /on polygon A, the symbol of another currency/],
  ];
  for (const [text, reason] of mistakes) assert.match(mistakesOf({ CURRENCIES: text }), reason);
  assert.equal(mistakesOf({ CURRENCIES: `polygon:A:${usdc}:6,base:A:${usdc}:6` }), '');
});

test('an empty or blank setting counts as not set', () => {
  assert.deepEqual(readConfig({ PORT: '', SERVICE_NAME: '  ', DATABASE_URL: '' }), readConfig({}));
  assert.equal(readConfig({ PORT: ' 81 ' }).port, 81);
});

test('options of the command line take precedence over the environment', () => {
  assert.equal(readConfig({ PORT: '81' }, { PORT: '82' }).port, 82);
  assert.equal(readConfig({ PORT: 'no number' }, { PORT: '82' }).port, 82);
});

test('all mistakes are reported in one message, each with its setting, form and value', () => {
  const message = mistakesOf({ PORT: '70000', SERVICE_NAME: 'Bad Name', EXTRA_CHAIN: 'x', LOG_LEVEL: 'loud' });
  for (const part of ['PORT', 'SERVICE_NAME', 'EXTRA_CHAIN', 'LOG_LEVEL', '70000', 'Bad Name', 'loud']) {
    assert.ok(message.includes(part), `${part} is not in: ${message}`);
  }
  for (const { name, form } of SETTINGS.filter((row) => ['PORT', 'LOG_LEVEL'].includes(row.name))) {
    assert.ok(message.includes(`${name} must be ${form}`));
  }
});

test('a variable whose name begins with MERCAT_ is a mistake if no setting has this name', () => {
  const message = mistakesOf({ MERCAT_PORT: '1', MERCAT_: '', PORT: 'x', HOME: '/root', PATH: '' });
  for (const name of ['MERCAT_PORT', 'MERCAT_ ', 'PORT must be'])
    assert.ok(message.includes(name), `${name} is not in: ${message}`);
  assert.equal(mistakesOf({ HOME: '/root', npm_config_x: '1', DATABASE_NAME: 'x', mercat_port: '1' }), '');
});

test('the value of a secret setting is never in the error message', () => {
  const message = mistakesOf({
    DATABASE_URL: `mysql://root:${PASSWORD}@db.internal/x`,
    INDEXER_DATABASE_URL: PASSWORD,
    MERCAT_TOKEN: PASSWORD,
  });
  for (const name of ['DATABASE_URL', 'INDEXER_DATABASE_URL', 'MERCAT_TOKEN']) assert.ok(message.includes(name));
  for (const part of [PASSWORD, 'db.internal', 'mysql']) assert.ok(!message.includes(part), message);
});

test('a BASE_URL with a password is a mistake, and the message does not show the password', () => {
  const message = mistakesOf({ BASE_URL: `https://user:${PASSWORD}@example.org` });
  assert.match(message, /BASE_URL/);
  assert.ok(!message.includes(PASSWORD), message);
});

test('settings accept values of their form and no other values', () => {
  const url = 'postgres://user:pw@host:5432/db?sslmode=require';
  /** Settings with texts that they accept and texts that they reject. */
  const rows: [string, string[], string[]][] = [
    ['PORT', ['0', '1', '65535'], ['65536', '-1', '1.5', '1e3', '0x50', 'http']],
    ['HOST', ['0.0.0.0', '::1', 'localhost', 'a-b.example'], ['a b', 'http://a', 'a/b', 'a;b']],
    ['BASE_URL', ['https://a.example', 'http://a:1/x/'], ['a.example', 'ftp://a', 'https://a?x', 'https://a#x', '/x']],
    ['DATABASE_URL', [url, 'postgresql:///db'], ['mysql://x', 'host=x', 'postgres']],
    ['INDEXER_DATABASE_URL', [url], ['x']],
    ['SERVICE_NAME', ['ab', 'a1b2c3d4e5f6g7h8'], ['a', 'A1', 'a-b', 'a_b', 'a1b2c3d4e5f6g7h8i', 'é2']],
    ['EXTRA_CHAIN', ['monad:evm:MON:18:143', 'x1:solana:X:0'], ['monad', 'ethereum:evm:ETH:18:1', 'monad:evm:MON:99']],
    ['PLATFORM_FEE_BPS', ['0', '10000'], ['10001', '-1', '2.5', '2%']],
    ['SOURCE_TIMEOUT_MS', ['10', '60000'], ['9', '60001', '1s']],
    ['LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], ['INFO', 'trace']],
    [
      'TRUST_PROXY',
      ['true', 'false', '0', '16', 'loopback', '10.0.0.0/8, ::1', '2001:db8::/32', '192.0.2.1'],
      ['yes', '17', '10.0.0.0/33', 'example.org', '10.0.0.0/8,', '1.2.3', '::1/129', '10.0.0.0/8/8'],
    ],
  ];
  for (const [name, accepted, rejected] of rows) {
    for (const text of accepted) assert.equal(mistakesOf({ [name]: text }), '', `${name}=${text}`);
    for (const text of rejected) assert.match(mistakesOf({ [name]: text }), new RegExp(name), `${name}=${text}`);
  }
});

test('trailing slashes of BASE_URL are removed, DATA_DIR is made absolute, TRUST_PROXY is parsed', () => {
  assert.equal(readConfig({ BASE_URL: 'https://a.example/x//' }).baseUrl, 'https://a.example/x');
  assert.equal(readConfig({ DATA_DIR: 'here' }).dataDir, path.resolve('here'));
  assert.equal(readConfig({ TRUST_PROXY: 'true' }).trustProxy, 1);
  assert.equal(readConfig({ TRUST_PROXY: '3' }).trustProxy, 3);
  assert.deepEqual(readConfig({ TRUST_PROXY: 'loopback, 10.0.0.0/8' }).trustProxy, ['loopback', '10.0.0.0/8']);
});

test('custody wallets are read with their labels', () => {
  const evm = toEvmAddress('vault');
  const solana: string = toSolanaAddress('vault');
  const { custodyWallets } = readConfig({
    CUSTODY_WALLETS: `0x${evm.slice(2).toUpperCase()} = The vault = old , ${solana}=Escrow`,
  });
  assert.deepEqual(
    [...custodyWallets],
    [
      [evm, 'The vault = old'],
      [solana, 'Escrow'],
    ],
  );
  for (const text of [evm, `${evm}=`, '=label', 'wallet=label', `${evm}=a,`, `${evm}=a,b=c`]) {
    assert.match(mistakesOf({ CUSTODY_WALLETS: text }), /CUSTODY_WALLETS/, text);
  }
});

test('the gateways for pictures are one URL for each of the two schemes, or none', () => {
  const gatewaysOf = (text: string) => readConfig({ IMAGE_GATEWAYS: text }).imageGateways;
  assert.deepEqual(gatewaysOf('ar=https://a.example/, ipfs=http://b.example/ipfs'), {
    ar: 'https://a.example',
    ipfs: 'http://b.example/ipfs',
  });
  assert.deepEqual(gatewaysOf('none'), {});
  for (const text of [
    'https://a.example',
    'ftp=https://a.example',
    'ar=a.example',
    'ar=https://a.example,ar=https://b.example',
  ]) {
    assert.match(mistakesOf({ IMAGE_GATEWAYS: text }), /IMAGE_GATEWAYS/, text);
  }
});

test('a variable that differs from a setting by one typing mistake is reported with that setting', () => {
  assert.match(
    mistakesOf({ DATABSE_URL: 'postgres://h/d' }),
    /DATABSE_URL is not a setting: did you mean DATABASE_URL\?/,
  );
  assert.match(mistakesOf({ RPC_URL_ETHEREM: 'http://h' }), /RPC_URL_ETHEREM/);
  assert.equal(
    mistakesOf({ PGDATABASE_URL: 'x', CAS_URL: 'x', HOSTS: 'x', PATH: '/bin' }),
    '',
    'a variable of another program was reported',
  );
});
