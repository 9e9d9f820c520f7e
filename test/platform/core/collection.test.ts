// Tests the canonical id of a collection.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Address } from '../../../src/platform/core/address.ts';
import { createChains, parseExtraChain } from '../../../src/platform/core/chains.ts';
import { parseCollectionId, toCollectionId, toRecordedCollectionId } from '../../../src/platform/core/collection.ts';
import { toSolanaAddress } from '../../../sample/random.ts';

const EVM = '0x5af0d9827e0c53e4799bb226655a1de152a425a5' as Address;
const chains = createChains(parseExtraChain('monad:evm:MON:18:143'));

test('a canonical id is made of the chain and the address in lower case', () => {
  assert.equal(toCollectionId('ethereum', EVM), `ethereum_${EVM}`);
  const mint: string = toSolanaAddress('mint');
  assert.equal(toCollectionId('solana', mint as Address), `solana_${mint.toLowerCase()}`);
});

test('a canonical id is recognised whatever the letter case of its address', () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      const mint: string = toSolanaAddress(name);
      const id = toCollectionId('solana', mint as Address);
      for (const text of [id, `solana_${mint}`, `solana_${mint.toUpperCase()}`]) {
        assert.deepEqual(parseCollectionId(chains, text), { chainId: 'solana', addressLower: mint.toLowerCase() });
      }
    }),
  );
  assert.deepEqual(parseCollectionId(chains, `monad_0x${EVM.slice(2).toUpperCase()}`), {
    chainId: 'monad',
    addressLower: EVM,
  });
});

test('only a known chain, an underscore and an address of that chain form a canonical id', () => {
  const mint: string = toSolanaAddress('mint');
  const others = ['', '_', 'ethereum', 'ethereum_', `_${EVM}`, `Ethereum_${EVM}`, `bitcoin_${EVM}`, `ethereum-${EVM}`];
  others.push(
    `ethereum_${EVM}0`,
    `ethereum_${mint}`,
    `solana_${EVM}`,
    `ethereum_${EVM}_1`,
    EVM,
    mint,
    `__proto___${EVM}`,
  );
  for (const text of others) assert.equal(parseCollectionId(chains, text), null, text);
});

test('in the id of a record, the slug replaces a missing address, and a missing chain is left out', () => {
  assert.equal(toRecordedCollectionId('base', EVM, 'slug'), `base_${EVM}`);
  assert.equal(toRecordedCollectionId('base', null, 'slug'), 'base_slug');
  assert.equal(toRecordedCollectionId(null, EVM, 'slug'), EVM);
  assert.equal(toRecordedCollectionId(null, null, 'slug'), 'slug');
  assert.equal(toRecordedCollectionId('base', null, null), null);
});
