// Tests that a wallet makes, accepts and cancels a bid of each kind in a real browser, on a local chain with the real Seaport.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createMarketClient } from '../../client/src/market.ts';
import { encodeFunctionData, parseEther } from 'viem';
import type { HDAccount } from 'viem/accounts';
import { cleanUp } from '../../test/support/engines/cleanup.ts';
import type { WatchedPage } from './browser.ts';
import { LOOKS, WHY_NO_BROWSER, assertGoodPage, launchBrowser, openPage, visit } from './browser.ts';
import type { DevnetMarket, OpenedToken } from './devnet-market.ts';
import { addWallet, finished, openTokenWithWallet, startDevnetMarket, transactAs } from './devnet-market.ts';

const DESKTOP = { width: 1_280, scheme: 'light' } as const;

/** A kind of bids. `standard`: that of the collection. */
type Kind = { name: string; standard: 'erc721' | 'erc1155'; choose: string | RegExp; units?: string; wanted: RegExp };

const KINDS: readonly Kind[] = [
  { name: 'item', standard: 'erc721', choose: / #\d+$/, wanted: / #\d+$/ },
  { name: 'units', standard: 'erc1155', choose: / #\d+$/, units: '3', wanted: / #\d+$/ },
  { name: 'collection', standard: 'erc721', choose: 'Any token of the collection', units: '2', wanted: /Any token$/ },
  { name: 'trait', standard: 'erc721', choose: 'Any token with a trait', wanted: /Colour: [A-Z][a-z]+$/ },
];

describe('bids on a local chain', { skip: WHY_NO_BROWSER ?? false }, () => {
  let market: DevnetMarket;
  let browser: Browser;
  let bidder: HDAccount;
  let holder: HDAccount;

  before(async () => {
    market = await startDevnetMarket();
    browser = await launchBrowser();
    const { chain, visitors } = market.world;
    const accountOf = (address: string | undefined) =>
      chain.accounts.find((account) => account.address.toLowerCase() === address) ?? assert.fail();
    [bidder, holder] = [accountOf(visitors[0]), accountOf(visitors[1])];
    await untilTraitsAreRead();
  });
  after(async () => {
    await browser.close();
    await market[Symbol.asyncDispose]();
    await cleanUp();
  });

  /** A bid for a trait is signed for the tokens that have it, so the traits of all tokens must be known. */
  const untilTraitsAreRead = async () => {
    const client = createMarketClient({ baseUrl: market.service.url });
    for (const { address } of market.world.collections) {
      const isRead = async () => {
        const traits = await Array.fromAsync(client.listTraits({ id: `ethereum_${address}` }));
        return traits.length > 0 && traits.every(({ values }) => values.every(({ count }) => count !== null));
      };
      while (!(await isRead())) await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };

  /** A token of which the holder has units. */
  const tokenOf = (standard: Kind['standard']): Pick<OpenedToken, 'contract' | 'tokenId'> => {
    const { address: contract, size } =
      market.world.collections.find((one) => one.standard === standard) ?? assert.fail();
    if (standard === 'erc1155') return { contract, tokenId: '1' };
    const { owners } = market.simulation.state();
    const owned = [...owners].filter(
      ([key, owner]) => key.startsWith(contract) && owner === holder.address.toLowerCase(),
    );
    const ids = owned.map(([key]) => Number(key.split(':')[1])).filter((id) => id > size);
    return { contract, tokenId: String(ids[0] ?? assert.fail('no token is left')) };
  };

  const open = (token: Pick<OpenedToken, 'contract' | 'tokenId'>, account: HDAccount): Promise<WatchedPage> =>
    openTokenWithWallet(browser, market, { ...token, wallet: { account }, look: DESKTOP });
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

  const fillIn = async (page: Page, { choose, units }: Kind, price: string) => {
    await button(page, 'Make a bid').click();
    await page.locator('dialog').getByText(choose).click();
    await page.fill('[name=price]', price);
    if (units !== undefined) await page.fill('[name=units]', units);
  };
  const makeBid = async (page: Page, kind: Kind, price: string) => {
    await fillIn(page, kind, price);
    await button(page, 'Sign and bid').click();
    await finished(page, 'The bid is made.');
  };
  const bidsOf = async (status: 'active' | 'dormant' | 'filled' | 'cancelled') => {
    const client = createMarketClient({ baseUrl: market.service.url });
    return Array.fromAsync(client.listOrders({ side: 'bid', maker: bidder.address.toLowerCase(), status }));
  };
  const allowance = async () => {
    const { wrapped, seaport } = market.world.protocol;
    const args = [bidder.address, seaport.address];
    const data = encodeFunctionData({ abi: wrapped.abi, functionName: 'allowance', args });
    return BigInt(await market.rpc.call<string>('eth_call', { to: wrapped.address, data }, 'latest'));
  };
  const allow = async (amount: bigint) => {
    const { wrapped, seaport } = market.world.protocol;
    const data = encodeFunctionData({ abi: wrapped.abi, functionName: 'approve', args: [seaport.address, amount] });
    await transactAs(market.rpc, { from: bidder.address, to: wrapped.address, data });
  };

  for (const [index, kind] of KINDS.entries()) {
    test(`a wallet makes a bid of the kind ${kind.name}, which the holder accepts`, async () => {
      const token = tokenOf(kind.standard);
      await allow(0n);
      const bids = await open(token, bidder);
      // A price of its own for each kind, so that the bid of this test is the top bid.
      const price = `${index + 2}`;
      await makeBid(bids.page, kind, price);
      assert.equal(await allowance(), parseEther(price) * BigInt(kind.units ?? 1));
      await button(bids.page, new RegExp(`^Cancel your bid of ${price} ETH for .*${kind.wanted.source}`)).waitFor();
      await assertGoodPage(bids, `bid-made-${kind.name}`, DESKTOP);
      await bids.context.close();
      const [made = assert.fail()] = await bidsOf('active');
      assert.equal(made.quantity, kind.units ?? '1');
      assert.equal(made.price.raw, parseEther(price));

      const sale = await open(token, holder);
      // The royalty of both collections is 5 %.
      await button(sale.page, `Accept the top bid for ${made.proceeds?.decimal} ETH`).click();
      await finished(sale.page, 'The token is sold to the bidder.');
      await sale.page.waitForSelector(`.table-row:has-text("Sold"):has-text("${price} ETH")`);
      await sale.context.close();
      if (kind.units === undefined) {
        assert.deepEqual((await bidsOf('filled')).map(({ orderId }) => orderId).includes(made.orderId), true);
      } else {
        const [rest = assert.fail()] = await bidsOf('active');
        assert.equal(rest.remaining, String(Number(kind.units) - 1));
        const again = await open(tokenOf(kind.standard), bidder);
        await button(again.page, /^Cancel your bid/).click();
        await finished(again.page, 'The bid is cancelled.');
        await again.context.close();
      }
    });

    test(`a wallet makes a bid of the kind ${kind.name}, and cancels it`, async () => {
      const { page, context } = await open(tokenOf(kind.standard), bidder);
      await makeBid(page, kind, '0.5');
      const cancel = button(page, /^Cancel your bid of 0.5 ETH for /);
      await cancel.click();
      await finished(page, 'The bid is cancelled.');
      await cancel.waitFor({ state: 'detached' });
      assert.deepEqual(await bidsOf('active'), []);
      await context.close();
    });
  }

  test('a wallet sees what others offer for its tokens, the best first, as it changes', async () => {
    const [item = assert.fail(), , collection = assert.fail()] = KINDS;
    const token = tokenOf('erc721');
    const offers = await openPage(browser, DESKTOP);
    await visit(offers.page, `${market.service.url}/w/${holder.address.toLowerCase()}?tab=offers`);
    await offers.page.waitForSelector('text=Nobody bids for a token of this wallet.');
    const { page, context } = await open(token, bidder);
    await makeBid(page, collection, '1');
    const rows = offers.page.locator('[aria-label=Offers] .table-body [role=row]');
    await rows.filter({ hasText: 'Any token' }).first().waitFor();
    await makeBid(page, item, '2');
    await rows.first().filter({ hasText: 'This token' }).filter({ hasText: '1.9 ETH' }).waitFor();
    await assertGoodPage(offers, 'wallet-offers', DESKTOP);
    for (const price of ['2', '1']) {
      await button(page, new RegExp(`^Cancel your bid of ${price} ETH`)).click();
      await finished(page, 'The bid is cancelled.');
      await button(page, new RegExp(`^Cancel your bid of ${price} ETH`)).waitFor({ state: 'detached' });
    }
    await offers.page.waitForSelector('text=Nobody bids for a token of this wallet.');
    await offers.context.close();
    await context.close();
  });

  test('a bid that the wallet cannot pay any more says so, and can be cancelled', async () => {
    const [item = assert.fail()] = KINDS;
    const { page, context } = await open(tokenOf('erc721'), bidder);
    await makeBid(page, item, '0.4');
    await allow(0n);
    const cancel = button(page, /^Cancel your bid of 0.4 ETH for .*no approval$/);
    await cancel.click();
    await finished(page, 'The bid is cancelled.');
    await cancel.waitFor({ state: 'detached' });
    assert.deepEqual(await bidsOf('dormant'), []);
    await context.close();
  });

  test('a bid that the wallet cannot pay is not made', async () => {
    const [item = assert.fail()] = KINDS;
    const { page, context } = await open(tokenOf('erc721'), bidder);
    await fillIn(page, item, '9999999');
    await button(page, 'Sign and bid').click();
    const text = (await page.textContent('.note-warn[role=alert]')) ?? '';
    assert.match(text, /does not have enough of the wrapped currency.*The bid is not made\./s);
    assert.deepEqual(await bidsOf('active'), []);
    await context.close();
  });

  test('a price and a number that are wrong are named, and the first of them has the focus', async () => {
    const { page, context } = await open(tokenOf('erc1155'), bidder);
    await fillIn(page, { ...(KINDS[1] ?? assert.fail()), units: '0' }, 'much');
    await button(page, 'Sign and bid').click();
    assert.deepEqual(await page.locator('dialog .field-error').allTextContents(), [
      'Enter an amount in ETH of more than 0, such as 0.25.',
      'Enter a whole number from 1.',
    ]);
    assert.equal(await page.evaluate('document.activeElement.name'), 'price');
    await context.close();
  });

  for (const look of LOOKS) {
    test(`the form of a bid is complete, accessible and without errors at ${look.width} px, ${look.scheme}`, async () => {
      const opened = await openPage(browser, look);
      const { contract, tokenId } = tokenOf('erc721');
      await addWallet(opened.context, { rpc: market.rpc, account: bidder });
      await visit(opened.page, `${market.service.url}/t/ethereum/${contract}/${tokenId}`);
      await fillIn(opened.page, KINDS[3] ?? assert.fail(), '0.5');
      await opened.page.waitForSelector('dialog >> text=0.475 ETH');
      await assertGoodPage(opened, 'bid-form', look);
      await opened.context.close();
    });
  }
});
