// Tests which deployments of Seaport a chain has, which conduit a conduit key stands for, and how the marketplace of an order is found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address } from '../../../../src/platform/core/address.ts';
import { parseAddress } from '../../../../src/platform/core/address.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import {
  findMarketplaceByFeeRecipient,
  findMarketplaceByTag,
  findOperator,
  listProtocols,
  toDomainTag,
} from '../../../../src/market/orders/seaport/deployments.ts';

const chains = createChains();

test('the addresses of the two conduits of OpenSea are computed from their keys', () => {
  const protocol = { address: '0x0000000000000068f116a894984e2db1123eb395' as Address };
  const operator = (key: string) => findOperator(protocol, `0x${key}`);
  assert.equal(
    operator('0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000'),
    '0x1e0049783f008a0085193e00003d00cd54003c71',
  );
  assert.equal(
    operator('61159fefdfada89302ed55f8b9e89e2d67d8258712b3a3f89aa88525877f1d5e'),
    '0x963f00d3ff000064ffcba824b800c0000000c300',
  );
});

test('the deployments of an EVM chain begin with the newest version, Seaport 1.6', () => {
  for (const chain of chains.values()) {
    const protocols = listProtocols(chain, new Map());
    if (chain.family === 'solana') {
      assert.deepEqual(protocols, []);
      continue;
    }
    assert.ok(protocols.some(({ address }) => address === '0x0000000000000068f116a894984e2db1123eb395'));
    assert.equal(new Set(protocols.map(({ address }) => address)).size, protocols.length);
    for (const { address, chainId } of protocols) {
      assert.equal(parseAddress('evm', address), address);
      assert.equal(chainId, chain.chainId);
    }
    const versions = protocols.map(({ version }) => version);
    assert.deepEqual(versions, versions.toSorted().toReversed());
  }
});

test('deployments that the settings add are listed before the built-in deployments', () => {
  const ethereum = chains.get('ethereum');
  assert.ok(ethereum);
  const more = new Map([['ethereum', [{ address: `0x${'5e'.repeat(20)}` as Address, version: '1.6' }]]]);
  assert.deepEqual(listProtocols(ethereum, more)[0], { address: `0x${'5e'.repeat(20)}`, version: '1.6', chainId: 1 });
  assert.equal(listProtocols(ethereum, more).length, listProtocols(ethereum, new Map()).length + 1);
});

test('settings that repeat a built-in deployment set its version and move it to the front of the list', () => {
  const ethereum = chains.get('ethereum');
  const [, older] = ethereum ? listProtocols(ethereum, new Map()) : [];
  assert.ok(ethereum && older);
  const more = new Map([['ethereum', [{ address: older.address, version: '9' }]]]);
  const protocols = listProtocols(ethereum, more);
  assert.deepEqual(protocols[0], { ...older, version: '9' });
  assert.equal(protocols.filter(({ address }) => address === older.address).length, 1);
});

test('a marketplace is found by the hash of its domain, and also by its fee recipient', () => {
  assert.equal(toDomainTag('opensea.io'), '0x360c6ebe');
  assert.equal(findMarketplaceByTag('0x360c6ebe'), 'opensea');
  assert.equal(findMarketplaceByTag('0x332d1229'), 'blur');
  assert.equal(findMarketplaceByTag('0x00000000'), null);
  assert.equal(findMarketplaceByFeeRecipient('0x0000a26b00c1f0df003000390027140000faa719'), 'opensea');
  assert.equal(findMarketplaceByFeeRecipient('constructor'), null);
});
