// The chains, and the one that configuration may add.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PUBLISHED_CHAIN_IDS, createChains, parseExtraChain } from '../../src/core/chains.ts';

test('the chains are the seven published ones, in their order of preference, with their native currencies', () => {
  const rows = [...createChains().values()].map(({ id, family, symbol, decimals, chainId, published }) => [
    id,
    family,
    symbol,
    decimals,
    chainId,
    published,
  ]);
  assert.deepEqual(rows, [
    ['solana', 'solana', 'SOL', 9, null, true],
    ['ethereum', 'evm', 'ETH', 18, 1, true],
    ['polygon', 'evm', 'POL', 18, 137, true],
    ['base', 'evm', 'ETH', 18, 8453, true],
    ['ink', 'evm', 'ETH', 18, 57073, true],
    ['apechain', 'evm', 'APE', 18, 33139, true],
    ['abstract', 'evm', 'ETH', 18, 2741, true],
  ]);
  assert.deepEqual(PUBLISHED_CHAIN_IDS, [...createChains().keys()]);
});

test('a configured chain is the last in the order, known by its id, and not published', () => {
  const extra = parseExtraChain('monad:evm:MON:18:143');
  assert.deepEqual(extra, { id: 'monad', family: 'evm', symbol: 'MON', decimals: 18, chainId: 143, published: false });
  const chains = createChains(extra);
  assert.equal([...chains.keys()].at(-1), 'monad');
  assert.equal(chains.size, 8);
  assert.equal(createChains().size, 7, 'of one service, not of all');
  assert.ok(!PUBLISHED_CHAIN_IDS.includes('monad' as never));
});

test('a configured chain may lack a chain id, and be of the Solana family', () => {
  assert.deepEqual(parseExtraChain('eclipse:solana:ETH:9'), {
    id: 'eclipse',
    family: 'solana',
    symbol: 'ETH',
    decimals: 9,
    chainId: null,
    published: false,
  });
  assert.equal(parseExtraChain('a1:evm:X:0')?.decimals, 0);
  assert.equal(parseExtraChain('a1:evm:X:36')?.decimals, 36);
});

test('a configured chain of another form, or with the id of a published one, is refused', () => {
  const refused = [
    '',
    'monad',
    'monad:evm',
    'monad:evm:MON',
    'monad:evm:MON:x',
    'monad:evm:MON:37',
    'monad:evm:MON:18:',
  ];
  refused.push('Monad:evm:MON:18', 'monad:EVM:MON:18', 'mo_nad:evm:MON:18', 'monad:evm:M N:18', ' monad:evm:MON:18');
  refused.push(
    'ethereum:evm:ETH:18:1',
    'solana:solana:SOL:9',
    'monad:evm:MON:18:143:1',
    'monad:btc:MON:18',
    '1x:evm:X:1',
  );
  for (const text of refused) assert.equal(parseExtraChain(text), null, text);
});
