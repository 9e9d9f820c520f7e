// Tests the console on a touch screen.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WHY_NO_BROWSER } from './browser.ts';
import { PHONE, setUpConsole } from './set-up.ts';

const COLLECTION = '/c/harbour-lights';

describe('the console on a phone', { skip: WHY_NO_BROWSER ?? false }, () => {
  const app = setUpConsole({ sample: true });

  const openOnPhone = async (path: string) => (await app.open(path, PHONE)).page;

  test('the head of a collection takes 200 pixels, and tokens are visible above the bar at the bottom', async () => {
    const page = await openOnPhone(COLLECTION);
    const [head, card, bar] = await Promise.all(
      ['.collection-head', '.card', '.workplaces'].map((selector) => page.locator(selector).first().boundingBox()),
    );
    assert.ok(head && card && bar);
    assert.ok(head.height <= 200, `the head has ${head.height} pixels`);
    assert.ok(card.y + 100 < bar.y, `the first token is at ${card.y}, and the bar at ${bar.y}`);
    const figures = page.locator('.figure:visible');
    assert.equal(await figures.count(), 3);
    await page.tap('.figures-more');
    assert.equal(await figures.count(), 10);
  });

  test('the choices of a collection and of the market fit in their lines, and each shows what is chosen', async () => {
    for (const path of [COLLECTION, '/']) {
      const page = await openOnPhone(path);
      const widths = await page.evaluate(`Array.from(document.querySelectorAll('.toolbar .select'), (select) =>
        [select.getBoundingClientRect().right <= innerWidth, select.clientWidth >= 90].join())`);
      assert.ok(
        Array.isArray(widths) && widths.length > 0 && widths.every((one) => one === 'true,true'),
        String(widths),
      );
      const right =
        await page.evaluate(`Math.max(...Array.from(document.querySelectorAll('.toolbar nav, .toolbar select'),
        (element) => element.getBoundingClientRect().right))`);
      assert.ok(Number(right) <= 390, `${path}: a choice ends at ${String(right)}`);
    }
  });

  test('in a narrow window with a scroll bar, each list of choices has room for its chosen text', async () => {
    for (const path of [COLLECTION, '/']) {
      const { page } = await app.open(path, { ...PHONE, isTouch: false });
      const widths = await page.evaluate(`Array.from(document.querySelectorAll('.toolbar .select'), (select) => {
        const alone = select.cloneNode(false);
        alone.append(select.selectedOptions[0].cloneNode(true));
        alone.style.cssText = 'flex: none; width: max-content';
        select.after(alone);
        const needed = alone.getBoundingClientRect().width;
        alone.remove();
        return [select.getBoundingClientRect().width, needed];
      })`);
      for (const [width = 0, needed = 0] of widths as number[][]) assert.ok(width >= needed, `${path}: ${needed}`);
    }
  });

  test('the filter by traits is a sheet, which says how it is closed and keeps what was chosen', async () => {
    const page = await openOnPhone(COLLECTION);
    await page.tap('.filter-open');
    await page.waitForSelector('.sheet[open] .trait-value');
    const { y = 0, height = 0 } = (await page.locator('.sheet[open]').boundingBox()) ?? {};
    assert.equal(Math.round(y + height), 844, 'the sheet ends at the bottom of the window');
    await page.tap('.sheet .trait-value >> nth=0');
    await page.waitForURL('**trait.*');
    await page.tap('text=Show the tokens');
    await page.waitForSelector('.sheet[open]', { state: 'detached' });
    assert.equal(await page.textContent('.filter-open .badge'), '1');
  });

  test('of the address of a wallet, both ends are visible', async () => {
    const address = `0x${'12345678'.repeat(4)}abcdef99`;
    const page = await openOnPhone(`/w/${address}`);
    const end = page.locator('.address > :last-child');
    assert.equal(await end.textContent(), 'abcdef99');
    const { x = 0, width = 0, height = 0 } = (await end.boundingBox()) ?? {};
    assert.ok(width > 0 && x + width < 390 && height < 40, 'the end of the address is in one line');
  });

  test('a tap on a price shows the exact amount, and a tap elsewhere hides it', async () => {
    const page = await openOnPhone(COLLECTION);
    await page.tap('.figure-list data >> nth=0');
    await page.waitForSelector('.tooltip >> text=0.42 ETH');
    await page.tap('h1');
    await page.waitForSelector('.tooltip', { state: 'detached' });
  });

  test('a tap on a price shows the exact amount also while another element has the focus', async () => {
    const page = await openOnPhone(COLLECTION);
    await page.focus('[name=q]');
    await page.tap('.figure-list data >> nth=1');
    await page.waitForSelector('.tooltip >> text=0.424 ETH');
    assert.equal(await page.evaluate(`document.activeElement.getAttribute('name')`), null);
  });
});
