// Tests how the URL of an endpoint is split: into the parts that are sent in requests, and the secret parts that logs never show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEndpointUrl } from '../../../../src/sources/chains/rpc/endpoint-url.ts';

const authorizationOf = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

test('user and password are sent decoded in a header, not in the URL', () => {
  const { url, host, headers } = parseEndpointUrl('https://us%40r:p%20w@rpc.example:8545/v2');
  assert.deepEqual([url, host], ['https://rpc.example:8545/v2', 'rpc.example:8545']);
  assert.equal(headers['authorization'], authorizationOf('us@r', 'p w'));
  assert.equal(parseEndpointUrl('https://rpc.example').headers['authorization'], undefined);
});

test('a percent sign that begins no valid sequence is part of the user or the password', () => {
  const { headers } = parseEndpointUrl('https://100%:5%zz@rpc.example');
  assert.equal(headers['authorization'], authorizationOf('100%', '5%zz'));
});

test('user, password and their header are redacted, however short they are', () => {
  const { redact } = parseEndpointUrl('https://bob:p%40ss@rpc.example/v2/0123456789abcdef?key=fedcba9876543210&v=2');
  const basic = Buffer.from('bob:p@ss').toString('base64');
  assert.equal(redact('https://bob:p%40ss@rpc.example'), 'https://…:…@rpc.example');
  assert.equal(redact(`user bob, password p@ss, header ${basic}`), 'user …, password …, header …');
  assert.equal(redact('/v2/0123456789abcdef?key=fedcba9876543210'), '/v2/…?key=…');
});

test('a short user is redacted only as a whole word', () => {
  const { redact } = parseEndpointUrl('https://a:b@rpc.example');
  assert.equal(redact('a bad gateway answered a:b'), '… bad gateway answered …:…');
});
