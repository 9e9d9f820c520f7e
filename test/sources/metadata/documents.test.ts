// Metadata documents and their URIs: every form that contracts use is read, and a field in any other form counts as missing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssetId } from '../../../src/platform/core/address.ts';
import { fillTokenId, parseMetadataUri } from '../../../src/sources/metadata/metadata-uri.ts';
import { parseCollectionDocument, parseTokenDocument } from '../../../src/sources/metadata/parse-metadata.ts';
import { TRAITS_CHARACTERS_MAX, TRAITS_MAX } from '../../../src/intake/records/traits.ts';
import { readTraits } from '../../../src/sources/upstreams/traits.ts';

const GATEWAYS = { ipfsGateways: ['https://one.example/ipfs', 'http://127.0.0.1:8080'], arweaveGateways: [] };
const CID = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG';

const uriOf = (uri: string) => parseMetadataUri(uri, GATEWAYS);
const textOf = (uri: string) => {
  const parsed = uriOf(uri);
  return parsed.kind === 'data' ? parsed.body.toString() : parsed.kind;
};
const tokenOf = (document: unknown) => parseTokenDocument(Buffer.from(JSON.stringify(document)));

test('{id} becomes the token id in 64 hexadecimal digits', () => {
  const id = '314592' as AssetId;
  assert.equal(
    fillTokenId('https://token-cdn-domain/{id}.json', id),
    'https://token-cdn-domain/000000000000000000000000000000000000000000000000000000000004cce0.json',
  );
});

test('data URIs are decoded from Base64, from percent-encoded text and from plain text', () => {
  const json = '{"name":"Ω 1 # 50%"}';
  assert.equal(textOf(`data:application/json;base64,${Buffer.from(json).toString('base64')}`), json);
  assert.equal(textOf(`data:application/json;utf8,${json}`), json);
  assert.equal(textOf(`data:application/json;charset=utf-8,${encodeURIComponent(json)}`), json);
  assert.equal(textOf(`data:,${json}`), json);
  assert.equal(textOf(json), json);
});

test('each form of an IPFS URI becomes one URL at each gateway', () => {
  const urls = [`https://one.example/ipfs/${CID}/7`, `http://127.0.0.1:8080/${CID}/7`];
  for (const uri of [`ipfs://${CID}/7`, `ipfs://ipfs/${CID}/7`, `${CID}/7`, `https://ipfs.io/ipfs/${CID}/7`]) {
    assert.deepEqual(uriOf(uri), { kind: 'remote', host: 'ipfs', urls, isGateway: true }, uri);
  }
});

test('a URI whose path leads out of the folder of the gateway, and a URI of a scheme without a gateway, are not supported', () => {
  for (const uri of ['ipfs://../admin', 'ipfs://a/../../admin', 'ipfs://%2e%2e/x', 'ar://tx', 'ftp://a/b', '7', '']) {
    assert.deepEqual(uriOf(uri), { kind: 'unsupported' }, uri);
  }
});

test('an http URL keeps its query and loses its fragment', () => {
  const parsed = uriOf('https://meta.example:444/7?v=2#x');
  assert.deepEqual(parsed, {
    kind: 'remote',
    host: 'meta.example:444',
    urls: ['https://meta.example:444/7?v=2'],
    isGateway: false,
  });
});

test('a URL whose host or path becomes too long when it is encoded is not supported', () => {
  for (const uri of [`https://${'ü.'.repeat(400)}example/1`, `https://meta.example/${'ü'.repeat(1_500)}`]) {
    assert.deepEqual(uriOf(uri), { kind: 'unsupported' }, uri.slice(0, 40));
  }
});

test('name, picture and description are read, and a value of a wrong type or form counts as missing', () => {
  const read = tokenOf({ name: ' One ', image: 'ipfs://x/1.png', description: 'D', extra: { deep: [1] } });
  assert.deepEqual(read, { name: 'One', image: 'ipfs://x/1.png', description: 'D', traits: [] });
  assert.equal(tokenOf({ name: 7 })?.name, '7');
  const wrong = { name: ['x'], image: 'javascript:alert(1)', description: { a: 1 }, attributes: 'none' };
  assert.deepEqual(tokenOf(wrong), { name: null, image: null, description: null, traits: [] });
  assert.equal(tokenOf({ name: 'a\0b' })?.name, null);
  assert.equal(tokenOf({ image: `https://a/${'x'.repeat(200_000)}` })?.image, null);
  assert.match(tokenOf({ image_data: '<svg></svg>' })?.image ?? '', /^data:image\/svg\+xml;base64,/);
});

test('a body that is not a JSON object in UTF-8, or is nested too deep, is no document', () => {
  for (const body of ['', '[]', '"x"', 'null', '<html>', '{"a":'.repeat(40) + '1' + '}'.repeat(40)]) {
    assert.equal(parseTokenDocument(Buffer.from(body)), null, body.slice(0, 20));
  }
  assert.equal(parseTokenDocument(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), null);
});

test('traits are read from the array form and the object forms, and a number keeps all its digits', () => {
  const attributes = [
    { trait_type: 'Hat', value: 'Cap' },
    { trait_type: 'Hat', value: 'Cap' },
    { trait_type: 'Level', value: 1234, display_type: 'number' },
    { trait_type: 'Born', value: 1_500_000_000, display_type: 'date' },
    { trait_type: 'Awake', value: true },
    { value: 'Bare' },
    { trait_type: 'Empty', value: '' },
    { trait_type: 'None', value: null },
    { trait_type: 'Long', value: 'x'.repeat(400) },
    'text',
  ];
  const body = JSON.stringify({ attributes }).replace('1234', '12345678901234567890');
  assert.deepEqual(parseTokenDocument(Buffer.from(body))?.traits, [
    { name: 'Hat', value: 'Cap', kind: 'text' },
    { name: 'Level', value: '12345678901234567890', kind: 'number' },
    { name: 'Born', value: '1500000000', kind: 'date' },
    { name: 'Awake', value: 'true', kind: 'text' },
    { name: 'Property', value: 'Bare', kind: 'text' },
  ]);
  const objects = tokenOf({ properties: { Hat: 'Cap', Eyes: { value: 'Blue' }, Files: [{ uri: 'x' }] } })?.traits;
  assert.deepEqual(objects, [
    { name: 'Hat', value: 'Cap', kind: 'text' },
    { name: 'Eyes', value: 'Blue', kind: 'text' },
  ]);
  const many = Array.from({ length: 500 }, (_, index) => ({ trait_type: `T${index}`, value: 'x' }));
  assert.equal(readTraits(many).length, TRAITS_MAX);
  const long = Array.from({ length: 50 }, (_, index) => ({
    trait_type: `${index}`.padEnd(100, 'n'),
    value: 'v'.repeat(300),
  }));
  assert.equal(readTraits([...long, ...long]).length, Math.floor(TRAITS_CHARACTERS_MAX / 400));
});

test('a collection document gives name, pictures, description and royalty', () => {
  const document = {
    name: 'All',
    image: 'ar://a',
    banner_image: 'https://b/c',
    description: 'D',
    seller_fee_basis_points: 250,
  };
  const read = parseCollectionDocument(Buffer.from(JSON.stringify(document)));
  assert.deepEqual(read, { name: 'All', image: 'ar://a', banner: 'https://b/c', description: 'D', royaltyBps: 250 });
  assert.equal(parseCollectionDocument(Buffer.from('{"seller_fee_basis_points":20000}'))?.royaltyBps, null);
});
