// Tests trading in a real browser, on a local chain with the real Seaport: listing, buying, cancelling and accepting bids with a wallet, and how each of
// these can fail.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { HDAccount } from 'viem/accounts';
import type { Address } from 'viem';
import { encodeFunctionData, zeroHash } from 'viem';
import type { StreamEvent } from '../../client/src/market.ts';
import { createMarketClient } from '../../client/src/market.ts';
import { buildBid, fromWireComponents, signOrder, toWireComponents } from '../../devnet/orders.ts';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import type { WatchedPage } from './browser.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, launchBrowser, openPage, tabTo, visit } from './browser.ts';
import type { DevnetMarket, OpenedToken } from './devnet-market.ts';
import { addWallet, finished, openTokenWithWallet, startDevnetMarket, transactAs } from './devnet-market.ts';

const DESKTOP = { width: 1_280, scheme: 'light' } as const;
/** The longest time from the response of the intake to the event in the stream. */
const STREAM_WITHIN_MS = 2_000;

describe('trading on a local chain', { skip: WHY_NO_BROWSER ?? false }, () => {
  let market: DevnetMarket;
  let browser: Browser;
  let seller: HDAccount;
  let buyer: HDAccount;
  let contract: string;
  /** The ids of the seller's tokens that no test has used yet. */
  const tokens: string[] = [];

  before(async () => {
    market = await startDevnetMarket();
    browser = await launchBrowser();
    const { chain, collections, visitors } = market.world;
    const accountOf = (address: string | undefined) =>
      chain.accounts.find((account) => account.address.toLowerCase() === address) ?? assert.fail();
    [seller, buyer] = [accountOf(visitors[0]), accountOf(visitors[1])];
    contract = collections[0]?.address ?? assert.fail();
    for (const [key, owner] of market.simulation.state().owners)
      if (owner === visitors[0] && key.startsWith(contract)) tokens.push(key.split(':')[1] ?? '');
  });
  after(async () => {
    await browser.close();
    await market[Symbol.asyncDispose]();
    await cleanUp();
  });

  const takeToken = () => tokens.pop() ?? assert.fail('no token is left');
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const openToken = (tokenId: string, wallet: OpenedToken['wallet']): Promise<WatchedPage> =>
    openTokenWithWallet(browser, market, { contract, tokenId, wallet, look: DESKTOP });

  const list = async (page: Page, price: string) => {
    await button(page, 'List for sale').click();
    await page.fill('[name=price]', price);
    await button(page, 'Sign and list').click();
  };

  const listAndClose = async (tokenId: string): Promise<void> => {
    const { page, context } = await openToken(tokenId, { account: seller });
    await list(page, '0.5');
    await finished(page, 'The token is listed.');
    await context.close();
  };

  const listingOf = async (tokenId: string) => {
    const client = createMarketClient({ baseUrl: market.service.url });
    const { data } = await client.readTokens({ tokens: [{ chain: 'ethereum', address: contract, tokenId }] });
    return data[0]?.listing ?? null;
  };

  test('a listed token appears in the stream within two seconds, and a second account can buy the token', async () => {
    const tokenId = takeToken();
    const opened = await openToken(tokenId, { account: seller });
    const { page, context } = opened;
    const { seen } = await followListing(market.service.url, tokenId);
    const accepted = page
      .waitForResponse((response) => response.url().endsWith('/intake/v1/orders'))
      .then(() => Date.now());
    await list(page, '0.5');
    await finished(page, 'The token is listed.');
    const { event, at } = await seen;
    assert.ok(at - (await accepted) < STREAM_WITHIN_MS, `${at - (await accepted)} ms`);
    assert.equal(event.price?.raw, 500_000_000_000_000_000n);
    // The buyer pays 0.525 ETH: the ask of 0.5 ETH and the royalty of 5 %.
    await page.waitForSelector('.token-price >> text=0.525 ETH');
    await button(page, 'Cancel the listing').waitFor();
    await assertGoodPage(opened, 'trade-listed', DESKTOP);
    await context.close();

    const second = await openToken(tokenId, { account: buyer });
    await button(second.page, 'Buy for 0.525 ETH').click();
    await finished(second.page, 'The token is yours.');
    await second.page.waitForSelector('text=This token is not listed.');
    assert.equal(
      await market.rpc.call('eth_call', { to: contract, data: ownerOf(tokenId) }, 'latest'),
      toWord(buyer.address),
    );
    await assertGoodPage(second, 'trade-bought', DESKTOP);
    await second.context.close();
    assert.equal(await listingOf(tokenId), null);
  });

  test('the seller lists a token and cancels the listing on the chain, with the keyboard alone', async () => {
    const opened = await openToken(takeToken(), { account: seller });
    const { page } = opened;
    await tabTo(page, 'List for sale');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] [name=price]');
    await tabTo(page, 'price');
    await page.keyboard.type('0.5');
    await tabTo(page, 'Sign and list');
    await page.keyboard.press('Enter');
    await finished(page, 'The token is listed.');
    await button(page, 'Cancel the listing').waitFor();
    await tabTo(page, 'Cancel the listing');
    await page.keyboard.press('Enter');
    await finished(page, 'The listing is cancelled.');
    await page.waitForSelector('text=This token is not listed.');
    assert.deepEqual(opened.errors, []);
    await opened.context.close();
  });

  test('after a rejected signature the page says that the token is not listed, and that the approval given before stays', async () => {
    const tokenId = takeToken();
    const rejects = new Set(['eth_signTypedData_v4']);
    await approve(market, { account: seller.address, contract, isApproved: false });
    const opened = await openToken(tokenId, { account: seller, rejects });
    const { page } = opened;
    await list(page, '0.75');
    const note = await page.waitForSelector('.note-warn[role=alert]');
    const text = (await note.textContent()) ?? '';
    for (const part of [
      'You rejected the request',
      'The token is not listed.',
      'The approval that you gave before stays',
    ])
      assert.ok(text.includes(part), text);
    await assertGoodPage(opened, 'trade-rejected', DESKTOP);
    assert.equal(await listingOf(tokenId), null);
    rejects.clear();
    await list(page, '0.75');
    await finished(page, 'The token is listed.');
    await opened.context.close();
  });

  test('after a purchase that fails on the chain, the page says that the price was not paid, and shows that the listing has ended', async () => {
    const tokenId = takeToken();
    await listAndClose(tokenId);
    const cancelFirst = () => cancelOnChain(market, { orderId: orderId ?? assert.fail(), seller: seller.address });
    const { orderId = null } = (await listingOf(tokenId)) ?? {};
    const opened = await openToken(tokenId, { account: buyer, beforeSend: cancelFirst });
    const { page } = opened;
    await button(page, /^Buy for/).click();
    const note = await page.waitForSelector('.note-warn[role=alert]');
    const text = (await note.textContent()) ?? '';
    for (const part of ['it failed on the chain', 'was not bought, and its price was not paid'])
      assert.ok(text.includes(part), text);
    await page.waitForSelector('text=This token is not listed.');
    await assertGoodPage(opened, 'trade-failed', DESKTOP);
    await opened.context.close();
  });

  test('if a listing has ended before its seller cancels it, the page does not say that the token may still be bought', async () => {
    const tokenId = takeToken();
    await listAndClose(tokenId);
    const { orderId = null } = (await listingOf(tokenId)) ?? {};
    const opened = await openToken(tokenId, { account: seller });
    const { page } = opened;
    await page.route(`**/orders/${orderId}`, async (route) => {
      const response = await route.fetch();
      const { data, meta } = await response.json();
      await route.fulfill({ response, json: { data: { ...data, status: 'filled', fulfilment: null }, meta } });
    });
    await button(page, 'Cancel the listing').click();
    const note = await page.waitForSelector('.note-warn[role=alert]');
    const text = (await note.textContent()) ?? '';
    assert.match(text, /The order has ended or changed/);
    assert.doesNotMatch(text, /buy|bought|not cancelled/);
    await opened.context.close();
  });

  test('a purchase that the chain would reject is not sent', async () => {
    const tokenId = takeToken();
    await listAndClose(tokenId);
    const { orderId = null } = (await listingOf(tokenId)) ?? {};
    const opened = await openToken(tokenId, { account: buyer, results: { eth_getBalance: '0x0' } });
    await button(opened.page, /^Buy for/).click();
    await opened.page.waitForSelector('text=The wallet does not have enough money.');
    assert.equal((await listingOf(tokenId))?.orderId, orderId);
    await opened.context.close();
  });

  test('a wallet on another chain with the same chain id cannot sign anything', async () => {
    const results = { eth_getBlockByNumber: { hash: `0x${'12'.repeat(32)}` } };
    const [tokenId = assert.fail()] = tokens;
    const opened = await openToken(tokenId, { account: seller, results });
    await opened.page.waitForSelector('.trade >> text=another chain with the same id');
    assert.equal(await opened.page.locator('.trade-actions').count(), 0);
    await assertGoodPage(opened, 'trade-other-network', DESKTOP);
    await opened.context.close();
  });

  for (const look of LOOKS) {
    test(`the trade panel and the listing form are complete, accessible and without errors at ${look.width} px, ${look.scheme}`, async () => {
      const [tokenId = assert.fail()] = tokens;
      const opened = await openPage(browser, look);
      await addWallet(opened.context, { rpc: market.rpc, account: seller });
      await visit(opened.page, `${market.service.url}/t/ethereum/${contract}/${tokenId}`);
      await button(opened.page, 'List for sale').click();
      await opened.page.fill('[name=price]', '0.5');
      await opened.page.waitForSelector('dialog >> text=0.525 ETH');
      await assertGoodPage(opened, 'trade-form', look);
      await opened.context.close();
    });
  }

  for (const look of LOOKS) {
    test(`every page of a local market is complete and without errors at ${look.width} px, ${look.scheme}`, async () => {
      const collection = `/c/ethereum_${contract}`;
      const paths = {
        market: '/',
        collection,
        sales: `${collection}?tab=sales`,
        activity: `${collection}?tab=activity`,
        depth: `${collection}?tab=depth`,
        holders: `${collection}?tab=holders`,
        token: `/t/ethereum/${contract}/1`,
        wallet: `/w/${seller.address.toLowerCase()}`,
        service: '/service',
      };
      const opened = await openPage(browser, look);
      for (const [name, path] of Object.entries(paths)) {
        await visit(opened.page, market.service.url + path);
        await assertGoodPage(opened, `devnet-${name}`, look);
      }
      await opened.context.close();
    });
  }

  test('the holder of a token accepts a bid for this token, and a bid for any token of the collection', async () => {
    for (const isOfMany of [false, true]) {
      const tokenId = takeToken();
      await bid(market, { contract, tokenId: isOfMany ? null : BigInt(tokenId) });
      const opened = await openToken(tokenId, { account: seller });
      const { page, context } = opened;
      // The bidder pays 0.5 ETH, of which 5 % are the royalty.
      await button(page, 'Accept the top bid for 0.475 ETH').click();
      await finished(page, 'The token is sold to the bidder.');
      assert.equal(
        await market.rpc.call('eth_call', { to: contract, data: ownerOf(tokenId) }, 'latest'),
        toWord(market.world.people[0]?.address ?? ''),
      );
      await page.waitForSelector('.table-row:has-text("Sold"):has-text("0.5 ETH")');
      await button(page, /^Accept/).waitFor({ state: 'detached' });
      await assertGoodPage(opened, `trade-accepted-${isOfMany ? 'any' : 'item'}`, DESKTOP);
      await context.close();
    }
  });

  test('a bidder cancels a bid', async () => {
    const bidder = market.world.people[0]?.address;
    const account = market.world.chain.accounts.find(({ address }) => address.toLowerCase() === bidder);
    await bid(market, { contract, tokenId: 1n });
    const { page, context } = await openToken('1', { account: account ?? assert.fail() });
    await button(page, 'Cancel your bid').click();
    await finished(page, 'The bid is cancelled.');
    await button(page, 'Cancel your bid').waitFor({ state: 'detached' });
    await context.close();
  });

  test('without a wallet the page does not load the code for trading', async () => {
    const tokenId = '1';
    const loadsTrading = (page: Page) =>
      page.evaluate<boolean>(
        `performance.getEntriesByType('resource').some(({ name }) => name.includes('trade-panel'))`,
      );
    const { page, context } = await openPage(browser, DESKTOP);
    await visit(page, `${market.service.url}/t/ethereum/${contract}/${tokenId}`);
    assert.equal(await page.locator('.trade').count(), 0);
    assert.equal(await loadsTrading(page), false);
    const withWallet = await openToken(tokenId, { account: seller });
    assert.equal(await loadsTrading(withWallet.page), true);
    await withWallet.context.close();
    await context.close();
  });
});

/** Opens the stream. `seen` resolves with the next event about the token and the time at which the event arrives. */
async function followListing(
  baseUrl: string,
  tokenId: string,
): Promise<{ seen: Promise<{ event: StreamEvent; at: number }> }> {
  const { promise: isOpen, resolve: onOpen } = Promise.withResolvers<void>();
  const client = createMarketClient({ baseUrl });
  const activities = client.follow({ kinds: ['list', 'reorg'], onConnection: (state) => state === 'open' && onOpen() });
  const seen = (async () => {
    for await (const event of activities) if (event.tokenId === tokenId) return { event, at: Date.now() };
    return assert.fail('the stream has ended');
  })();
  await isOpen;
  return { seen };
}

const OWNER_OF = [
  {
    type: 'function',
    name: 'ownerOf',
    stateMutability: 'view',
    inputs: [{ type: 'uint256', name: 'id' }],
    outputs: [{ type: 'address' }],
  },
] as const;

function ownerOf(tokenId: string) {
  return encodeFunctionData({ abi: OWNER_OF, functionName: 'ownerOf', args: [BigInt(tokenId)] });
}

function toWord(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
}

/** Submits a bid of 0.5 ETH with a royalty of 5 %, for one token or, if `tokenId` is null, for any. */
async function bid(
  { world, rpc, service }: DevnetMarket,
  { contract, tokenId }: { contract: string; tokenId: bigint | null },
): Promise<void> {
  const { people, chain, protocol, collections } = world;
  const [bidder = assert.fail()] = people;
  const { royalty } = collections.find(({ address }) => address === contract) ?? assert.fail();
  const { timestamp } = await rpc.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
  const components = buildBid({
    offerer: bidder.address,
    contract: contract as Address,
    tokenId,
    currency: protocol.wrapped.address,
    price: 500_000_000_000_000_000n,
    shares: [royalty],
    conduitKey: zeroHash,
    startTime: Number(timestamp),
    endTime: Number(timestamp) + 3_600,
    salt: 1n,
    counter: 0n,
  });
  const { signature } = await signOrder(bidder.account, chain.chainId, components);
  const key = await service.operate('keys.create', { scopes: ['orders:write'] });
  const response = await fetch(`${service.url}/intake/v1/orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.body.result.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ chain: 'ethereum', order: { parameters: toWireComponents(components), signature } }),
  });
  assert.equal(response.status, 201, await response.text());
}

type Approval = { account: string; contract: string; isApproved: boolean };

async function approve({ world, rpc }: DevnetMarket, { account, contract, isApproved }: Approval): Promise<void> {
  const { abi } = world.collections.find(({ address }) => address === contract) ?? assert.fail();
  const args = [world.protocol.seaport.address, isApproved];
  await transactAs(rpc, {
    from: account,
    to: contract,
    data: encodeFunctionData({ abi, functionName: 'setApprovalForAll', args }),
  });
}

async function cancelOnChain(
  { world, rpc, service }: DevnetMarket,
  { orderId, seller }: { orderId: string; seller: string },
): Promise<void> {
  const { data } = await createMarketClient({ baseUrl: service.url }).getOrder({ orderId });
  const components = fromWireComponents(data.fulfilment?.parameters ?? assert.fail());
  const { address, abi } = world.protocol.seaport;
  await transactAs(rpc, {
    from: seller,
    to: address,
    data: encodeFunctionData({ abi, functionName: 'cancel', args: [[components]] }),
  });
}
