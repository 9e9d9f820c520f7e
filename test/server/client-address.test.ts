// Rate limits count each request under the address of its client. Behind a proxy, X-Forwarded-For names this address.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createClientAddress, UncountedProxies } from '../../src/server/client-address.ts';

const requestOf = (remoteAddress: string, forwardedFor?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
  }) as unknown as IncomingMessage;

const assertAddresses = (trustProxy: number | readonly string[], rows: [string, string | undefined, string][]) => {
  const addressOf = createClientAddress(trustProxy).counted;
  for (const [socket, forwardedFor, expected] of rows) {
    assert.equal(
      addressOf(requestOf(socket, forwardedFor)),
      addressOf(requestOf(expected)),
      `${socket} ${forwardedFor}`,
    );
  }
};

test('without a trusted proxy X-Forwarded-For does not change the client address', () => {
  assertAddresses(0, [
    ['198.51.100.7', undefined, '198.51.100.7'],
    ['198.51.100.7', '203.0.113.1', '198.51.100.7'],
    ['198.51.100.7', '203.0.113.1, 127.0.0.1', '198.51.100.7'],
  ]);
});

test('behind one trusted proxy the client address is the right-most entry of X-Forwarded-For', () => {
  assertAddresses(1, [
    ['127.0.0.1', '203.0.113.1', '203.0.113.1'],
    ['127.0.0.1', '10.9.9.9, 203.0.113.1', '203.0.113.1'],
    ['127.0.0.1', '1.1.1.1,2.2.2.2 ,  203.0.113.1', '203.0.113.1'],
    ['127.0.0.1', undefined, '127.0.0.1'],
    ['127.0.0.1', '', '127.0.0.1'],
  ]);
});

test('behind two trusted proxies the client address is the second entry of X-Forwarded-For from the right', () => {
  assertAddresses(2, [
    ['127.0.0.1', '6.6.6.6, 203.0.113.1, 10.0.0.1', '203.0.113.1'],
    ['127.0.0.1', '203.0.113.1', '203.0.113.1'],
  ]);
});

test('with a list of trusted proxies the client address is the right-most entry that is not in the list', () => {
  assertAddresses(
    ['loopback', '10.0.0.0/8', '2001:db8:1::/48'],
    [
      ['127.0.0.1', '203.0.113.1, 10.1.2.3, 10.4.5.6', '203.0.113.1'],
      ['127.0.0.1', '203.0.113.9, 203.0.113.1, 10.1.2.3', '203.0.113.1'],
      ['127.0.0.1', '203.0.113.1, 2001:db8:1::5', '203.0.113.1'],
      ['198.51.100.7', '203.0.113.1', '198.51.100.7'],
      ['::ffff:127.0.0.1', '203.0.113.1', '203.0.113.1'],
    ],
  );
});

test('when the entry of X-Forwarded-For that would be used is not an IP address, the client address is the address of the proxy', () => {
  assertAddresses(1, [
    ['127.0.0.1', 'unknown', '127.0.0.1'],
    ['127.0.0.1', '203.0.113.1, <script>', '127.0.0.1'],
  ]);
});

for (const trustProxy of [0, 1, ['127.0.0.0/8']])
  test(`a request whose socket has already lost its address is counted under an empty address (trusted: ${String(trustProxy)})`, () => {
    const addressOf = createClientAddress(trustProxy).counted;
    const socket = { remoteAddress: undefined };
    assert.equal(addressOf({ socket, headers: {} } as IncomingMessage), '');
  });

test('all IPv6 addresses of one /64 are counted as one client, in any notation', () => {
  assertAddresses(0, [
    ['2001:db8:0:1::1', undefined, '2001:db8:0:1:ffff:ffff:ffff:ffff'],
    ['2001:DB8:0000:0001::1', undefined, '2001:db8:0:1::2'],
    ['fe80::1%eth0', undefined, 'fe80::2'],
  ]);
  assertAddresses(1, [['127.0.0.1', '2001:db8:0:1::1', '2001:db8:0:1:2:3:4:5']]);
  const addressOf = createClientAddress(0).counted;
  assert.notEqual(addressOf(requestOf('2001:db8:0:1::1')), addressOf(requestOf('2001:db8:0:2::1')));
});

test('an IPv4 address and the same address mapped into IPv6 are one client', () => {
  assertAddresses(0, [
    ['::ffff:198.51.100.7', undefined, '198.51.100.7'],
    ['::ffff:c633:6407', undefined, '198.51.100.7'],
  ]);
  const addressOf = createClientAddress(0).counted;
  assert.notEqual(addressOf(requestOf('198.51.100.7')), addressOf(requestOf('198.51.100.8')));
  assert.notEqual(addressOf(requestOf('::ffff:198.51.100.7')), addressOf(requestOf('::ffff:198.51.100.8')));
});

test('a request through more proxies than are named is counted, but not a header that a client has made', async () => {
  const count = async (trustProxy: number | readonly string[], socket: string, forwardedFor?: string) => {
    const proxies = new UncountedProxies(trustProxy);
    proxies.observe({ request: requestOf(socket, forwardedFor) });
    return ((await proxies.status.read()) as { requestsOfUncountedProxies: number }).requestsOfUncountedProxies;
  };
  // Something that ends TLS, at 172.18.0.1, stands before the cache.
  assert.equal(await count(1, '172.18.0.5', '203.0.113.1, 172.18.0.1'), 1);
  assert.equal(await count(2, '172.18.0.5', '203.0.113.1, 172.18.0.1'), 0);
  assert.equal(await count(0, '127.0.0.1', '203.0.113.1'), 1);
  assert.equal(await count(0, '127.0.0.1'), 0);
  assert.equal(await count(['172.18.0.5'], '172.18.0.5', '203.0.113.1, 172.18.0.1'), 1);
  assert.equal(await count(['172.18.0.0/16'], '172.18.0.5', '203.0.113.1, 172.18.0.1'), 0);
  // Clients at public addresses may send any header.
  assert.equal(await count(0, '8.8.8.8', '203.0.113.1'), 0);
  assert.equal(await count(1, '127.0.0.1', '203.0.113.9, 8.8.8.8'), 0);
});
