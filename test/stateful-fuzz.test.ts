// Fuzzes each interface against its OpenAPI document with sequences of requests that create, read, change and delete. `npm test` runs a few
// cases. `npm run test:fuzz` runs 5,000 for each document and engine. With the FUZZ_SEED of an earlier run, the test repeats that run.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { generateSampleMarket } from '../sample/market.ts';
import { forEachEngine } from './support/engines/each-engine.ts';
import type { StatefulOptions } from './support/fuzz/stateful.ts';
import { fuzzStateful, placeholders } from './support/fuzz/stateful.ts';
import { ask, submissionOf } from './support/service/intake-client.ts';
import { range } from './support/service/market.ts';
import type { TestService } from './support/service/service.ts';
import { startTestService } from './support/service/service.ts';
import { STORE_SCOPES } from '../src/shop/keys/scopes.ts';

const CASES = Number(process.env['FUZZ_CASES'] ?? 12);
/** Without FUZZ_SEED: a random seed if FUZZ_CASES is set, otherwise the same seed in every run. Each run prints its seed. */
const SEED = Number(process.env['FUZZ_SEED'] ?? (process.env['FUZZ_CASES'] ? randomInt(2 ** 30) : 1));

/**
 * A run of at least this many cases is long. A long run also fuzzes the marketplace and the explore interface, and prints how often each
 * operation returned each status.
 */
const LONG_RUN_CASES = 100;

const SETTINGS = {
  // Webhooks are sent to closed ports of this machine only.
  WEBHOOK_ALLOW_PRIVATE: 'true',
  STORE_RATE_LIMIT: '100000000',
  SOURCE_TIMEOUT_MS: '60000',
};

const WEBHOOK_URLS = [
  'http://127.0.0.1:9/hook',
  'http://[::1]:9/hook',
  'https://127.0.0.1:9/',
  'http://localhost:9/a?b=c',
];
const PRODUCTS = [
  { name: 'Mug', price: '19.90', inventory: 12 },
  { name: 'Poster', price: 5, trackInventory: false, collections: ['ethereum_0x1'] },
];
const STOCK_CHANGES = [
  { product_id: '{{productId:0}}', adjustment: -3, reason: 'sold' },
  { product_id: '{{productId:1}}', set: 11 },
  { product_id: '{{productId:0}}', adjustment: 1, expected: 12 },
];

/** The number of signed orders. There are so many that most cases find an order that no earlier case has submitted or cancelled. */
const ORDERS = Math.max(20, CASES / 5);
const ORDER_LIFETIME_S = 7 * 24 * 3_600;

/** A valid submission of an order that the service has not stored yet. */
function signSubmission(index: number): Promise<object> {
  const start = Math.floor(Date.now() / 1_000) - 60;
  return submissionOf(ask({ tokenId: BigInt(index), start, end: start + ORDER_LIFETIME_S }));
}

/** The form of the values of each parameter. Texts of this form are taken from earlier responses and sent as values of the parameter. */
const MARKET_IDS = {
  id: /^[a-z]+_(?:0x[0-9a-f]{40}|[a-z-]+)$/,
  chain: /^(?:ethereum|base|polygon|solana)$/,
  address: /^0x[0-9a-f]{40}$|^[1-9A-HJ-NP-Za-km-z]{43,44}$/,
  tokenId: /^\d{1,6}$|^[1-9A-HJ-NP-Za-km-z]{43,44}$/,
  cursor: /^[\w-]{24,}$/,
};

const WRONG_URLS = [
  '',
  'x',
  'ftp://127.0.0.1/',
  'http://',
  'http://user:pass@127.0.0.1:9/',
  'http://127.0.0.1:9/#f',
  'http://127.0.0.1:99999/',
];

forEachEngine('sequences of generated requests', (engine) => {
  describe('service', () => {
    let service: TestService;
    before(async () => {
      service = await startTestService({ settings: { ...(await engine.settings()), ...SETTINGS }, logLevel: 'warn' });
    });
    after(() => service.close());

    const fuzz = async (
      t: TestContext,
      document: string,
      options: Pick<StatefulOptions, 'authorize' | 'ids' | 'properties' | 'bodies' | 'changingFields'>,
    ) => {
      service.logged.splice(0);
      const served: unknown = await (await fetch(service.url + document)).json();
      // On a busy machine, a request may exceed its deadline and get a 503. A long run tolerates no 503, because it is meant for a machine
      // that is not busy.
      const toleratedStatuses = CASES < LONG_RUN_CASES ? [503] : [];
      const all = { url: service.url, document: served, seed: SEED, cases: CASES, toleratedStatuses, ...options };
      const report = await fuzzStateful(all);
      t.diagnostic(`${report.cases} cases, ${report.requests} requests, seed ${SEED}`);
      const counts = Array.from(report.statuses, ([name, count]) => `${name}: ${count}`);
      if (CASES >= LONG_RUN_CASES) for (const count of counts.toSorted()) t.diagnostic(count);
      assert.deepEqual(
        report.failures,
        [],
        `the service does not conform: repeat with FUZZ_SEED=${SEED} FUZZ_CASES=${CASES}`,
      );
      const errors = service.logged.filter((line) => /"level":"error"/.test(line));
      assert.deepEqual(errors, []);
      return report;
    };
    const createKey = async (scopes: readonly string[], shop?: string) => {
      const { body } = await service.operate('keys.create', { shop, scopes });
      return `Bearer ${body.result.secret}`;
    };

    test('the responses of the store conform to its OpenAPI document', async (t) => {
      let shops = 0;
      const authorize = async () => {
        shops += 1;
        const name = `fuzzed shop ${shops}`;
        await service.operate('shops.create', { name });
        return createKey(STORE_SCOPES, name);
      };
      await fuzz(t, '/api/v1/openapi.json', {
        authorize,
        ids: {
          productId: /^prod_/,
          product_id: /^prod_/,
          webhookId: /^whk_/,
          deliveryId: /^dlv_/,
          cursor: /^[\w-]{24,}$/,
        },
        properties: {
          product_id: fc.oneof(
            { weight: 6, arbitrary: placeholders('productId') },
            { weight: 1, arbitrary: fc.string() },
          ),
          url: fc.oneof(
            { weight: 6, arbitrary: fc.constantFrom(...WEBHOOK_URLS) },
            { weight: 1, arbitrary: fc.constantFrom(...WRONG_URLS) },
          ),
        },
        // The deliveries fail, because nothing listens on their ports. So this field changes without a request.
        changingFields: ['failingSince'],
        bodies: {
          createProduct: PRODUCTS,
          createWebhook: WEBHOOK_URLS.map((url) => ({ url })),
          changeInventory: STOCK_CHANGES,
        },
      });
    });

    test('the responses of the intake conform to its OpenAPI document', async (t) => {
      const key = await createKey(['orders:write', 'intake:write']);
      await fuzz(t, '/intake/v1/openapi.json', {
        authorize: () => Promise.resolve(key),
        ids: { orderId: /^ethereum_0x[0-9a-f]{40}_\d+_\d+$/ },
        bodies: { submitOrder: await Promise.all(range(ORDERS).map(signSubmission)) },
      });
    });

    // A short run skips these tests, because `fuzz.test.ts` fuzzes the public interfaces.
    describe('the public interfaces', { skip: CASES < LONG_RUN_CASES && 'only in a long run' }, () => {
      before(() => service.load(generateSampleMarket({ serviceName: 'mercat' })));

      test('the responses of the marketplace conform to its OpenAPI document', async (t) => {
        await fuzz(t, '/v1/openapi.json', { ids: MARKET_IDS });
      });

      test('the responses of the explore interface conform to its OpenAPI document', async (t) => {
        await fuzz(t, '/explore/v1/openapi.json', {
          ids: {
            ...MARKET_IDS,
            collection: MARKET_IDS.id,
            wallet: MARKET_IDS.address,
            owner: MARKET_IDS.address,
            orderId: /^[a-z]+_0x[0-9a-f]{40}_\d+_\d+$/,
            offset: /^[\da-f]{12}-\d{16}$/,
            from: /^[\da-f]{12}-\d{16}$/,
          },
        });
      });
    });
  });
});
