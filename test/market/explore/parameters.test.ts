// Tests that each operation of the explore interface rejects query parameters that it does not have.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forOneMarket } from '../../support/service/market.ts';

type Operation = { responses: Record<string, object>; parameters?: { in: string; name: string }[] };

forOneMarket('query parameters of the explore interface', {}, (market) => {
  test('each operation rejects a parameter that it does not have, and the message names those that it has', async () => {
    const { paths } = await market.ok('/explore/v1/openapi.json');
    const operations = Object.entries<{ get?: Operation }>(paths).flatMap(([path, { get }]) =>
      get?.responses[400] ? [{ path, get }] : [],
    );
    assert.ok(operations.length > 10);
    for (const { path, get } of operations) {
      const names = (get.parameters ?? []).flatMap((one) => (one.in === 'query' ? [one.name] : []));
      const { status, body } = await market.get(
        `${path.replaceAll(/\{\w+\}/g, '1')}?limit=1&minPrice=2&sort=price&b[c]=1`,
      );
      const unknown = ['limit', 'minPrice', 'sort', 'b[c]'].filter((name) => !names.includes(name));
      assert.equal(status, 400, path);
      const [, first, use, named] =
        /^Query parameter (\S+) is unknown: (use (.+)|this operation has none)$/.exec(body.error.message) ?? [];
      assert.equal(first, unknown[0], path);
      assert.deepEqual(use === 'this operation has none' ? [] : named?.split(', ').sort(), names.sort(), path);
    }
  });
});
