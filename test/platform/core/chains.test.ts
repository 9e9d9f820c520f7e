// Tests the table of the published chains, and the chain that the setting EXTRA_CHAIN adds.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  PUBLISHED_CHAIN_IDS,
  createChains,
  isNameAt,
  nameAt,
  parseExtraChain,
} from '../../../src/platform/core/chains.ts';

test('without EXTRA_CHAIN the chains are the seven published ones, in their fixed order', () => {
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

test('the chain of EXTRA_CHAIN comes last and is not published', () => {
  const extra = parseExtraChain('monad:evm:MON:18:143');
  assert.deepEqual(extra, {
    id: 'monad',
    family: 'evm',
    symbol: 'MON',
    formerSymbols: [],
    decimals: 18,
    chainId: 143,
    wrappedNative: null,
    currencies: [],
    seaport: [],
    names: { opensea: ['monad'], 'magic-eden': ['monad'], coingecko: ['monad'] },
    aliases: [],
    keepsBuyerFloor: false,
    published: false,
  });
  const chains = createChains(extra);
  assert.equal([...chains.keys()].at(-1), 'monad');
  assert.equal(chains.size, 8);
  assert.equal(createChains().size, 7, 'chains that were created without the extra chain contain it');
  assert.ok(!PUBLISHED_CHAIN_IDS.includes('monad' as never));
});

test('the chain of EXTRA_CHAIN may lack a chain id, and may be of the Solana family', () => {
  const { family, chainId, decimals } = parseExtraChain('eclipse:solana:ETH:9') ?? assert.fail();
  assert.deepEqual({ family, chainId, decimals }, { family: 'solana', chainId: null, decimals: 9 });
  assert.equal(parseExtraChain('a1:evm:X:0')?.decimals, 0);
  assert.equal(parseExtraChain('a1:evm:X:36')?.decimals, 36);
});

test('the chain of EXTRA_CHAIN gets its OpenSea name from its id and its CoinGecko name from its symbol', () => {
  const namesOf = (text: string) => parseExtraChain(text)?.names;
  assert.deepEqual(namesOf('zora:evm:ETH:18'), { opensea: ['zora'], coingecko: ['ethereum'] });
  assert.deepEqual(namesOf('sei:solana:SEI:9'), { coingecko: ['sei-network'] });
  assert.deepEqual(namesOf('avax:evm:AVAX:18'), { coingecko: ['avalanche-2'] });
  assert.deepEqual(namesOf('unheard:evm:NONE:18'), {});
  assert.deepEqual(namesOf('constructor:evm:constructor:18'), {});
});

test('requests use the first of the names that a vendor has for a chain, and responses may use any of these names', () => {
  const polygon = createChains().get('polygon') ?? assert.fail();
  assert.equal(nameAt(polygon, 'opensea'), 'polygon');
  assert.equal(isNameAt(polygon, 'opensea', 'matic'), true);
  assert.equal(isNameAt(polygon, 'opensea', 'POL'), false);
  assert.equal(nameAt(polygon, 'das'), null);
  assert.equal(isNameAt(polygon, 'das', 'polygon'), false);
});

test('every published chain has a wrapped native currency, and every published EVM chain has Seaport 1.6', () => {
  for (const chain of createChains().values()) {
    assert.ok(chain.wrappedNative, chain.id);
    if (chain.family === 'evm') assert.equal(chain.seaport.at(-1)?.version, '1.6');
  }
});

test('no file names more than one chain, except platform/core/chains.ts and the files of settlement protocols', () => {
  const root = fileURLToPath(new URL('../../../src/', import.meta.url));
  const names = PUBLISHED_CHAIN_IDS.join('|');
  const mention = new RegExp(`['"](${names})['"]|\\b(${names}):`, 'g');
  const chainsIn = (text: string) => new Set([...text.matchAll(mention)].map(([, quoted, key]) => quoted ?? key));
  const code = (text: string) => text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  // A file of a settlement protocol lists the chains on which the protocol was deployed. It does not change when a chain is added.
  const others = files.filter((name) => !name.startsWith(path.join('sources', 'chains', 'protocols', path.sep)));
  const tables = others.filter((name) => chainsIn(code(readFileSync(path.join(root, name), 'utf8'))).size > 1);
  assert.deepEqual(tables, [path.join('platform', 'core', 'chains.ts')]);
});

test('an EXTRA_CHAIN that is malformed, or has the id of a published chain, is refused', () => {
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
