// Tests the addresses of tokens, transactions and accounts on other websites.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountUrl, explorerUrl, marketplaceUrl, transactionUrl } from '../../console/src/market/outside-links.ts';

test('there is a link only to pages that exist', () => {
  const evm = { chain: 'base', contractAddress: '0xabc', tokenId: '7', mint: null };
  const solana = { chain: 'solana', contractAddress: null, tokenId: null, mint: 'Mint' };
  assert.equal(explorerUrl(evm), 'https://basescan.org/nft/0xabc/7');
  assert.equal(explorerUrl({ ...evm, chain: 'ink' }), 'https://explorer.inkonchain.com/token/0xabc/instance/7');
  assert.equal(explorerUrl(solana), 'https://solscan.io/token/Mint');
  assert.equal(explorerUrl({ ...evm, chain: 'constructor' }), null);
  assert.equal(transactionUrl('polygon', '0x1'), 'https://polygonscan.com/tx/0x1');
  assert.equal(marketplaceUrl('opensea', { ...evm, chain: 'apechain' }), 'https://opensea.io/item/ape_chain/0xabc/7');
  assert.equal(marketplaceUrl('magic-eden', solana), 'https://magiceden.io/item-details/Mint');
  assert.equal(marketplaceUrl('blur', evm), null);
  assert.equal(marketplaceUrl('mercat', evm), null);
  assert.equal(accountUrl('0x1'), 'https://blockscan.com/address/0x1');
});
