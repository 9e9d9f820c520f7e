// Tests that the service accepts exactly the requests that the OpenAPI document of the store allows. products.test.ts runs this suite.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { TestShop, TestStore } from '../support/service/shop.ts';

const RUNS = 60;

/** The statuses that the document must list for each operation. 500 and 503 are expected for every operation in addition. */
const STATUSES: Record<string, number[]> = {
  listProducts: [200, 400, 401, 403, 429],
  createProduct: [201, 400, 401, 403, 409, 422, 429],
  storeProducts: [200, 400, 401, 403, 409, 422, 429],
  getProduct: [200, 400, 401, 403, 404, 429],
  updateProduct: [200, 400, 401, 403, 404, 409, 412, 422, 429],
  deleteProduct: [200, 400, 401, 403, 404, 412, 429],
  listInventory: [200, 400, 401, 403, 429],
  changeInventory: [200, 400, 401, 403, 404, 409, 422, 429],
  listAdjustments: [200, 400, 401, 403, 429],
};

const text = fc.oneof(
  fc.constantFrom('', 'a', '19.90', '1.', 'physical', 'nft', '🦔'.repeat(120), 'n'.repeat(161), 's'.repeat(181)),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const number = fc.constantFrom(0, 1, -1, 1.5, 12.34, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 9_007_199_254_740_991);
const list = fc.oneof(
  fc.array(text, { maxLength: 3 }),
  fc.constantFrom(
    ['x', 'y'],
    Array.from({ length: 26 }, () => 'x'),
  ),
);
const anything = fc.oneof(text, number, fc.boolean(), fc.constant(null), list, fc.constant({}));

/** Generates bodies with valid values from `validValues`. Up to two fields, known or unknown, then get a value of any type. */
const bodiesOf = (validValues: Record<string, unknown[]>, requiredKeys: string[]) => {
  const values = Object.entries(validValues).map(([name, some]) => [name, fc.constantFrom(...some)] as const);
  const invalid = fc.dictionary(fc.constantFrom(...Object.keys(validValues), 'unknown'), anything, { maxKeys: 2 });
  return fc
    .tuple(fc.record(Object.fromEntries(values), { requiredKeys }), invalid)
    .map(([fields, changes]): object => ({ ...fields, ...changes }));
};
const PRODUCT = {
  name: ['Mug', '🦔'],
  price: ['19.90', 5, 0.1],
  description: ['', 'd', null],
  image: ['ipfs://i', '', null],
  moreImages: [[], ['https://a', 'data:image/png,b']],
  type: ['physical', 'digital', 'nft'],
  inventory: [0, 7],
  trackInventory: [true, false],
  requiresShipping: [true, false],
  weightGrams: [0, 1.5],
  collection: ['c'],
  collections: [[], ['c', 'd']],
};
const STOCK = { adjustment: [-1, 0, 5], reason: ['why'] };

/** Declares the tests that compare the document with the responses of the service. */
export function describeDocument(store: TestStore): void {
  const validatorOf = (schema: string) => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(store.document, 'document');
    return ajv.compile({ $ref: `document#/components/schemas/${schema}` });
  };
  const assertAgreement = async (
    shop: TestShop,
    bodies: fc.Arbitrary<object>,
    schema: string,
    toRequest: (body: object) => [string, string, object],
  ) => {
    const isAllowed = validatorOf(schema);
    const outcomes = { accepted: 0, rejected: 0 };
    await fc.assert(
      fc.asyncProperty(bodies, async (generated) => {
        const [method, path, body] = toRequest(generated);
        const response = await shop.send(method, path, { body });
        assert.equal(response.status < 300, isAllowed(body), `${JSON.stringify(body)}: ${response.text}`);
        outcomes[response.status < 300 ? 'accepted' : 'rejected'] += 1;
      }),
      { numRuns: RUNS },
    );
    assert.ok(outcomes.accepted > 5 && outcomes.rejected > 5, JSON.stringify(outcomes));
  };

  describe('the OpenAPI document', () => {
    test('the document allows exactly the bodies that the service accepts', async () => {
      const shop = await store.shop();
      const { id } = await shop.product();
      await assertAgreement(shop, bodiesOf(PRODUCT, ['name', 'price']), 'ProductCreate', (body) => [
        'POST',
        '/products',
        body,
      ]);
      await assertAgreement(shop, bodiesOf(PRODUCT, []), 'ProductUpdate', (body) => ['PUT', `/products/${id}`, body]);
      for (const stock of [STOCK, { set: [0, 5], reason: ['why'] }])
        await assertAgreement(shop, bodiesOf(stock, [Object.keys(stock)[0] ?? '']), 'StockRequest', (body) => [
          'POST',
          '/inventory',
          { product_id: id, ...body },
        ]);
    });

    test('the document lists the statuses of every operation and requires an API key', () => {
      const { paths, security, components } = store.document;
      const operations = Object.values<any>(paths).flatMap((item) => Object.values<any>(item));
      for (const [id, statuses] of Object.entries(STATUSES)) {
        const operation = operations.find(({ operationId }) => operationId === id);
        assert.deepEqual(Object.keys(operation.responses).map(Number), [...statuses, 500, 503], id);
        assert.deepEqual(Object.keys(operation.responses[429].headers).toSorted(), [
          'Retry-After',
          'X-RateLimit-Limit',
          'X-RateLimit-Remaining',
          'X-RateLimit-Reset',
        ]);
        assert.match(operation.description, /Scope `[a-z]+:[a-z]+`\./);
      }
      for (const operation of operations) {
        const { parameters = [], responses, operationId } = operation;
        const headers = parameters.filter((one: any) => one.in === 'header').map((one: any) => one.name);
        const expected = [...(responses[422] ? ['idempotency-key'] : []), ...(responses[412] ? ['if-match'] : [])];
        assert.deepEqual(headers, expected, operationId);
      }
      assert.deepEqual(security, [{ apiKey: [] }]);
      assert.equal(components.securitySchemes.apiKey.scheme, 'bearer');
    });
  });
}
