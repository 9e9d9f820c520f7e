// Tests that each operation of the explore interface rejects query parameters that it does not have, and that errors name the parameter.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forOneMarket, newCollection } from '../../support/service/market.ts';

type Operation = { responses: Record<string, object>; parameters?: { in: string; name: string; required?: boolean }[] };

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

  test('an error about a parameter has its name in `param`, in every operation and for every parameter', async () => {
    const { paths } = await market.ok('/explore/v1/openapi.json');
    let checked = 0;
    for (const [path, { get }] of Object.entries<{ get?: Operation }>(paths)) {
      if (!get?.responses[400]) continue;
      const target = path.replaceAll(/\{\w+\}/g, '1');
      for (const { name } of (get.parameters ?? []).filter((one) => one.in === 'query')) {
        for (const written of [name, `${name}[x]`]) {
          const others = (get.parameters ?? []).filter(
            (one) => one.required && one.in === 'query' && one.name !== name,
          );
          const query = [...others.map((one) => `${one.name}=x`), `${written}=`].join('&');
          const { status, body } = await market.get(`${target}?${query}`);
          assert.deepEqual([status, body.error.code], [400, 'bad_request'], `${path} ${written}`);
          assert.equal(body.error.param, name === 'traits' || written === name ? name : written, `${path} ${written}`);
          checked += 1;
        }
      }
      const unknown = await market.get(`${target}?minPrice=2`);
      assert.equal(unknown.body.error.param, 'minPrice');
    }
    assert.ok(checked > 40, String(checked));
  });

  test('`param` names parameters of the path, fields of a body and a header, too', async () => {
    const subject = newCollection();
    await market.load([subject.collection()]);
    const paramOf = async (path: string, init?: RequestInit) =>
      (await market.get(`/explore/v1${path}`, init)).body.error.param;
    const batch = (body: unknown) =>
      paramOf('/tokens/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const token = { chain: 'ethereum', address: subject.address, tokenId: '1' };
    assert.deepEqual(
      [
        await paramOf('/tokens/nowhere/a/1'),
        await paramOf(`/tokens/ethereum/${subject.address}/x`),
        await paramOf('/wallets/nobody/tokens'),
        await paramOf('/wallets/nobody/listings'),
        await paramOf('/wallets/nobody/collections'),
        await paramOf('/wallets/nobody/offers'),
        await paramOf('/wallets/nobody/activity'),
        await paramOf('/activity?wallet=nobody'),
        await paramOf('/stream/pages/x'),
        await paramOf('/stream', { headers: { 'last-event-id': 'x' } }),
        await paramOf(`/collections/${subject.slug}/tokens?cursor=x`),
        await paramOf(`/collections/${subject.slug}/tokens?traits[Hat]=Cap`),
        await paramOf(`/collections/${subject.slug}/history?interval=hour&from=2020-01-01T00:00:00Z`),
        await batch({ tokens: [] }),
        await batch({ tokens: [token, { ...token, address: 'x' }] }),
      ],
      [
        'chain',
        'tokenId',
        ...Array.from({ length: 5 }, () => 'address'),
        'wallet',
        'offset',
        'Last-Event-ID',
        'cursor',
        'traits',
        'from',
        'tokens',
        'tokens[1].address',
      ],
    );
    assert.equal(await paramOf('/collections/nobody'), undefined);
    const { status, body } = await market.get('/v1/collections?limit=0');
    assert.deepEqual(
      [status, Object.keys(body.error)],
      [400, ['code', 'message']],
      'an error of /v1 has code and message alone',
    );
  });

  test('each error has the URL of a page that the service has, with a section for each code', async () => {
    const { components } = await market.ok('/explore/v1/openapi.json');
    const codes: string[] = components.schemas.Error.properties.error.properties.code.enum;
    const sections = [...(await (await fetch(`${market.url}/docs/errors.md`)).text()).matchAll(/^### `(\w+)`$/gm)];
    const documented = new Set(sections.map(([, code]) => code));
    for (const code of codes) assert.ok(documented.has(code), code);
    const errors: [code: string, path: string, init?: RequestInit][] = [
      ['bad_request', '/collections?limit=0'],
      ['bad_request', '/tokens/batch', { method: 'POST', body: '{' }],
      ['not_found', '/collections/nobody'],
      ['not_found', '/nothing'],
      ['method_not_allowed', '/collections', { method: 'DELETE' }],
      ['gone', '/stream/pages/aaaaaaaaaaaa-0000000000000001'],
      ['bad_request', '/collections/%zz'],
    ];
    for (const [code, path, init] of errors) {
      const { body } = await market.get(`/explore/v1${path}`, init);
      assert.deepEqual([body.error.code, body.error.docs], [code, `${market.url}/docs/errors.md#${code}`], path);
    }
  });
});
