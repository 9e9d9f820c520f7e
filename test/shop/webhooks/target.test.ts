// Tests which URLs are accepted for webhooks. Shops choose these URLs, so no spelling of a URL must lead to an address in the operator's
// own network.

import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { isPublicAddress, parseTarget } from '../../../src/platform/resilience/public-target.ts';
import type { Resolve, ResolvedAddress } from '../../../src/platform/resilience/resolve-host.ts';
import { createCheckedLookup } from '../../../src/platform/resilience/checked-lookup.ts';
import { WebhookSender } from '../../../src/shop/webhooks/sender.ts';

const PUBLIC = { address: '93.184.215.14', family: 4 } as const;
const LOCAL = { address: '127.0.0.1', family: 4 } as const;

/** Listeners on this machine. They count connections instead of requests, because not even a TLS handshake must reach a private address. */
const listeners: net.Server[] = [];
let connections = 0;
let port = 0;

before(async () => {
  const listen = (host: string, at: number) =>
    new Promise<net.Server | null>((resolve) => {
      const server = net.createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      server.once('error', () => resolve(null)).listen(at, host, () => resolve(server));
    });
  const first = await listen('127.0.0.1', 0);
  assert.ok(first);
  port = (first.address() as net.AddressInfo).port;
  const second = await listen('::1', port);
  listeners.push(first, ...(second ? [second] : []));
});
after(() => {
  for (const server of listeners) server.close();
});

const LITERALS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0',
  '0.0.0.0',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  'localhost',
  'LOCALHOST.',
  'hooks.localhost',
];

const URLS = [
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://127.0.0.1/',
  'javascript:alert(1)',
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com/#fragment',
  'https://',
  'https://exa mple.com/',
  '//example.com/',
  'example.com',
  '',
  `https://example.com/${'a'.repeat(2_048)}`,
];

test('a URL is rejected if its form is not allowed or if its host is not public, however the host is spelled', async () => {
  const sender = new WebhookSender({ allowPrivate: false, timeoutMs: 2_000 });
  for (const url of [...LITERALS.map((host) => `https://${host}:${port}/hook`), ...URLS]) {
    assert.ok('error' in parseTarget(url, false), `${url} was accepted`);
    const outcome = await sender.send({ url, headers: {}, body: '{}' }, new AbortController().signal);
    assert.equal(outcome.status, null, url);
    assert.match(outcome.error ?? '', /^the URL must/, url);
  }
  assert.equal(connections, 0);
});

test('a host name is rejected unless all its addresses are public', async () => {
  const names: Record<string, ResolvedAddress[]> = {
    'local.example': [LOCAL],
    'mixed.example': [PUBLIC, LOCAL],
    'mapped.example': [{ address: '::ffff:127.0.0.1', family: 6 }],
    'scoped.example': [{ address: 'fe80::1%lo', family: 6 }],
    'nonsense.example': [{ address: 'localhost', family: 4 }],
    'empty.example': [],
  };
  const resolve: Resolve = (hostname) => Promise.resolve(names[hostname] ?? []);
  const sender = new WebhookSender({ allowPrivate: false, resolve, timeoutMs: 2_000 });
  for (const hostname of Object.keys(names)) {
    const url = `https://${hostname}:${port}/`;
    const { status, error } = await sender.send({ url, headers: {}, body: '{}' }, new AbortController().signal);
    assert.equal(status, null);
    assert.match(error ?? '', /not public|does not resolve/, hostname);
    assert.doesNotMatch(error ?? '', /127|::/);
  }
  assert.equal(connections, 0);
});

test('each connection resolves its host name once and connects only to the checked addresses', async () => {
  let lookups = 0;
  const rebinding: Resolve = () => Promise.resolve([(lookups += 1) === 1 ? PUBLIC : LOCAL]);
  const lookup = createCheckedLookup(rebinding, false);
  const dial = () =>
    new Promise((resolve) => lookup('rebinding.example', { all: true }, (error, found) => resolve(error ?? found)));
  assert.deepEqual(await dial(), [PUBLIC]);
  assert.ok((await dial()) instanceof Error);

  lookups = 1;
  const sender = new WebhookSender({ allowPrivate: true, resolve: rebinding, timeoutMs: 2_000 });
  const before = connections;
  const url = `http://rebinding.example:${port}/`;
  await sender.send({ url, headers: {}, body: '{}' }, new AbortController().signal);
  assert.deepEqual({ lookups, connections: connections - before }, { lookups: 2, connections: 1 });
});

test('host names of this machine are rejected', async () => {
  const sender = new WebhookSender({ allowPrivate: false, timeoutMs: 3_000 });
  const before = connections;
  for (const hostname of ['localhost', 'localhost.', 'ip6-localhost']) {
    const url = `https://${hostname}:${port}/`;
    const { status } = await sender.send({ url, headers: {}, body: '{}' }, new AbortController().signal);
    assert.equal(status, null);
  }
  assert.equal(connections, before);
});

test('with allowPrivate, a request to a private address reaches a listener of these tests', async () => {
  const sender = new WebhookSender({ allowPrivate: true, timeoutMs: 2_000 });
  const before = connections;
  const url = `http://2130706433:${port}/`;
  await sender.send({ url, headers: {}, body: '{}' }, new AbortController().signal);
  assert.equal(connections, before + 1);
  assert.ok('error' in parseTarget(`http://user@127.0.0.1:${port}/`, true));
  assert.ok('error' in parseTarget('ftp://127.0.0.1/', true));
});

test('an IPv6 address that contains an IPv4 address is never public', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      const hex = [(a << 8) | b, (c << 8) | d].map((part) => part.toString(16)).join(':');
      for (const embedded of [`::ffff:${hex}`, `::${hex}`, `64:ff9b::${hex}`, `64:ff9b:1::${hex}`, `2002:${hex}::`]) {
        assert.equal(isPublicAddress(embedded), false, embedded);
      }
    }),
  );
});

test('addresses of the public internet are accepted', () => {
  for (const address of ['1.1.1.1', '93.184.215.14', '223.255.255.254', '2606:4700::1111', '2a00:1450::200e']) {
    assert.equal(isPublicAddress(address), true, address);
  }
  assert.ok('url' in parseTarget('https://hooks.example.com:8443/a/b?c=d', false));
});
