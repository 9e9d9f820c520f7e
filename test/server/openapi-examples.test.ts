// Tests that the examples in the OpenAPI documents are complete and valid by their schemas, and that they agree with each other and with
// the sample marketplace.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createChains } from '../../src/platform/core/chains.ts';
import type { Hex } from '../../src/platform/core/evm.ts';
import { KIND_FIELDS, RECORD_KINDS } from '../../src/intake/records/kinds.ts';
import { parseRecord } from '../../src/intake/records/parse.ts';
import { hashOrder, parseSeaportOrder } from '../../src/market/orders/seaport/order.ts';
import { listProtocols } from '../../src/market/orders/seaport/deployments.ts';
import { findSigningProtocol } from '../../src/market/orders/signatures.ts';
import { EVENT_PATTERNS, TEST_EVENT_TYPE } from '../../src/shop/events.ts';
import { isSignedWith } from '../shop/webhooks/fixtures.ts';
import { generateSampleMarket } from '../../sample/market.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';

/** The time of the service. At this time the listing in the examples has not expired. */
const NOW = Date.UTC(2026, 5, 2);
const PATHS = { marketplace: '/v1', explore: '/explore/v1', store: '/api/v1', intake: '/intake/v1' };

type Media = { schema: object; example?: unknown };
type Parameter = { name: string; in: string; required: boolean; schema: object; example?: unknown };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
};
type ComponentSchema = { examples?: unknown[] };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: { schemas: Record<string, ComponentSchema> };
};

describe('the examples of the OpenAPI documents', () => {
  const documents: Record<string, Document> = {};
  let service: TestService;
  let key: string;
  before(async () => {
    const settings = { DATA_DIR: await directoryWithDatabase() };
    service = await startTestService({ settings, clock: () => NOW });
    key = (await service.operate('keys.create', { scopes: ['intake:write'] })).body.result.secret;
    for (const [name, prefix] of Object.entries(PATHS)) {
      documents[name] = (await (await fetch(`${service.url}${prefix}/openapi.json`)).json()) as Document;
    }
  });

  after(() => service.close());

  const importLines = async (lines: string, query = ''): Promise<Record<string, unknown>[]> => {
    const response = await fetch(`${service.url}/intake/v1/records${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
      body: lines,
    });
    return parseLines(await response.text());
  };
  const documentOf = (name: string) => documents[name] ?? assert.fail();
  const operationsOf = ({ paths, webhooks = {} }: Document): Operation[] =>
    [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) => Object.values(item));
  const mediaOf = ({ requestBody, responses }: Operation) => {
    const successes = Object.entries(responses).flatMap(([status, { content }]) => (status < '300' ? [content] : []));
    return [requestBody?.content, ...successes].flatMap((content) => Object.entries(content ?? {}));
  };
  /** Returns a function that fails unless a value is valid by a schema of the document. */
  const validatorOf = (document: Document) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'document', components: document.components });
    return (schema: object, value: unknown, where: string) => {
      const absolute = JSON.parse(
        JSON.stringify(schema).replaceAll('"#/components', '"document#/components'),
      ) as object;
      const validate = ajv.compile(absolute);
      assert.ok(validate(value), `${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
    };
  };

  test('every operation has an example of its body, of its success response, and of each path parameter', () => {
    for (const document of Object.values(documents)) {
      for (const operation of operationsOf(document)) {
        const { operationId, parameters = [] } = operation;
        for (const [type, media] of mediaOf(operation)) assert.ok('example' in media, `${operationId} ${type}`);
        for (const { in: where, name, ...parameter } of parameters) {
          if (where === 'path') assert.ok('example' in parameter, `${operationId} ${name}`);
        }
      }
    }
    const { paths } = documentOf('store');
    assert.ok(paths['/api/v1/products']?.['post']?.requestBody?.content['application/json']?.example);
    assert.ok(paths['/api/v1/products']?.['get']?.responses['200']?.content?.['application/json']?.example);
  });

  test('every example is valid by its schema', () => {
    let count = 0;
    for (const document of Object.values(documents)) {
      const assertValid = validatorOf(document);
      for (const operation of operationsOf(document)) {
        for (const [type, { schema, example }] of mediaOf(operation)) {
          assertValid(schema, example, `${operation.operationId} ${type}`);
        }
        for (const { schema, example, name } of operation.parameters ?? []) {
          if (example !== undefined) assertValid(schema, example, `${operation.operationId} ${name}`);
        }
      }
      for (const [name, schema] of Object.entries(document.components.schemas)) {
        for (const example of schema.examples ?? []) {
          assertValid(schema, example, name);
          count += 1;
        }
      }
    }
    assert.ok(count > 40, `only ${count} examples of components were found`);
  });

  test('all examples name the same collection, the same product, the same webhook and the same order', () => {
    const values = new Map<string, Set<unknown>>();
    const collect = (value: unknown) => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, inner] of Object.entries(value)) {
        if (typeof inner === 'string') values.set(name, (values.get(name) ?? new Set()).add(inner));
        collect(inner);
      }
    };
    for (const document of Object.values(documents)) {
      for (const { examples } of Object.values(document.components.schemas)) collect(examples);
      for (const operation of operationsOf(document))
        for (const [, { example }] of mediaOf(operation)) collect(example);
    }
    for (const name of ['contractAddress', 'collectionId', 'productId', 'product_id', 'webhookId', 'orderHash']) {
      assert.equal(values.get(name)?.size, 1, name);
    }
    const [productId] = values.get('productId') ?? [];
    assert.deepEqual([...(values.get('product_id') ?? [])], [productId]);
    assert.ok(values.get('id')?.has(productId));
  });

  test('after an import of the example records, each read with the example parameters has the status 200, and each list has rows', async () => {
    const { schemas } = documentOf('intake').components;
    const records = ['CollectionRecord', 'ListingRecord', 'SaleRecord'].map((name) => schemas[name]?.examples?.[0]);
    await importLines(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    for (const [template, { get }] of Object.entries(documentOf('marketplace').paths)) {
      const target = template.replaceAll(/\{(\w+)\}/g, (_text, name: string) => {
        const parameter = get?.parameters?.find((one) => one.name === name);
        return String(parameter?.example);
      });
      const response = await fetch(service.url + target);
      const body = (await response.json()) as { data?: unknown };
      assert.equal(response.status, 200, target);
      const example = get?.responses['200']?.content?.['application/json']?.example as { data?: unknown };
      if (Array.isArray(example.data)) assert.notDeepEqual(body.data, [], target);
    }
  });

  test('the sample marketplace has the collection and the token of the examples, and lists the token', () => {
    const { paths } = documentOf('marketplace');
    const parameters = paths['/v1/tokens/{chain}/{address}/{tokenId}']?.['get']?.parameters ?? [];
    const [chain, contractAddress, tokenId] = parameters.map(({ example }) => example);
    const slug = paths['/v1/collections/{id}']?.['get']?.parameters?.[0]?.example;
    const found = new Set<string>();
    for (const record of generateSampleMarket({ serviceName: 'mercat' })) {
      if (record['chain'] !== chain || record['contractAddress'] !== contractAddress) break;
      if (record['kind'] === 'collection') assert.equal(record['slug'], slug);
      if (record['tokenId'] === tokenId || record['kind'] === 'collection') found.add(String(record['kind']));
      if (found.size === 3) break;
    }
    assert.deepEqual([...found], ['collection', 'token', 'listing']);
  });

  test('every type of event is documented as a webhook, with an example whose signature is valid', () => {
    const { webhooks = {}, components } = documentOf('store');
    const types = [...EVENT_PATTERNS.filter((pattern) => !pattern.endsWith('*')), TEST_EVENT_TYPE];
    assert.deepEqual(Object.keys(webhooks).toSorted(), types.toSorted());
    const examples = components.schemas['WebhookWithSecret']?.examples as { secret: string }[];
    for (const [type, { post }] of Object.entries(webhooks)) {
      const { example } = post.requestBody?.content['application/json'] ?? {};
      assert.equal((example as { type: string }).type, type);
      const headers = Object.fromEntries((post.parameters ?? []).map((one) => [one.name, String(one.example)]));
      assert.deepEqual(Object.keys(headers), ['webhook-id', 'webhook-timestamp', 'webhook-signature']);
      const request = { path: '', headers, body: JSON.stringify(example) };
      assert.ok(isSignedWith(request, examples[0]?.secret ?? ''), type);
      assert.deepEqual(Object.keys(post.responses), ['410', '2XX', 'default']);
    }
  });

  test('the hash and the signature in the example of a signed order are valid for its components', () => {
    const { examples = [] } = documentOf('intake').components.schemas['SignedOrder'] ?? {};
    const { seaport, orderHash, protocolAddress } = examples[0] as {
      seaport: { parameters: object; signature: Hex };
      orderHash: Hex;
      protocolAddress: string;
    };
    const { order } = parseSeaportOrder(seaport.parameters);
    assert.ok(order);
    assert.equal(hashOrder(order), orderHash);
    const ethereum = createChains().get('ethereum') ?? assert.fail();
    const signature = { offerer: order.offerer, orderHash, signature: seaport.signature };
    const { protocol } = findSigningProtocol(signature, listProtocols(ethereum, new Map()));
    assert.equal(protocol?.address, protocolAddress);
  });

  describe('records of each kind', () => {
    const context = {
      chains: createChains(),
      serviceName: 'mercat',
      now: () => NOW,
      seaport: new Map(),
    };
    const isParsed = (record: Record<string, unknown>) => parseRecord(context, record).record !== null;
    const schemaOf = (kind: string) => {
      const name = `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}Record`;
      return documentOf('intake').components.schemas[name] as ComponentSchema & {
        properties: Record<string, { properties?: Record<string, object>; type: string | string[] }>;
        required: string[];
      };
    };
    const exampleOf = (kind: string) => schemaOf(kind).examples?.[0] as Record<string, unknown>;

    test('the schema of each kind of record has exactly the fields that the parser knows', () => {
      for (const kind of RECORD_KINDS) {
        const fields = Object.entries(schemaOf(kind).properties).flatMap(([name, { properties }]) =>
          properties ? Object.keys(properties).map((inner) => `${name}.${inner}`) : [name],
        );
        assert.deepEqual(fields.toSorted(), ['kind', ...Object.keys(KIND_FIELDS[kind])].toSorted(), kind);
      }
    });

    test('the parser requires exactly the fields that the schema requires', () => {
      for (const kind of RECORD_KINDS) {
        const { properties, required } = schemaOf(kind);
        const example = exampleOf(kind);
        assert.ok(isParsed(example), kind);
        // The chain decides whether `tokenId` or `mint` is required.
        const alternatives = new Set(properties['mint'] ? ['tokenId'] : []);
        for (const name of Object.keys(properties)) {
          const { [name]: _removed, ...rest } = example;
          if (alternatives.has(name)) continue;
          assert.equal(
            isParsed(rest),
            !required.includes(name),
            `${kind} without ${name} is wrongly accepted or rejected`,
          );
        }
      }
    });

    test('the parser accepts null in exactly the fields that the schema allows to be null', () => {
      for (const kind of RECORD_KINDS) {
        const { properties, required } = schemaOf(kind);
        for (const [name, { type }] of Object.entries(properties)) {
          const isNullable = Array.isArray(type) && type.includes('null');
          if (name === 'tokenId' || (kind === 'collection' && name === 'contractAddress')) continue;
          assert.equal(isParsed({ ...exampleOf(kind), [name]: null }), isNullable, `${kind} ${name}`);
          if (required.includes(name)) assert.ok(!isNullable, `${kind} ${name}`);
        }
      }
    });

    test('the intake accepts the example of a request body, and its response has the documented events', async () => {
      const document = documentOf('intake');
      const { post } = document.paths['/intake/v1/records'] ?? {};
      const body = String(post?.requestBody?.content['application/x-ndjson']?.example);
      const response = String(post?.responses['200']?.content?.['application/x-ndjson']?.example);
      const events = await importLines(`${body}not a record\n`, '?dryRun=true');
      const assertValid = validatorOf(document);
      const { ImportRecord = {}, ImportEvent = {} } = document.components.schemas;
      for (const record of parseLines(body)) assertValid(ImportRecord, record, 'body');
      for (const event of [...events, ...parseLines(response)]) assertValid(ImportEvent, event, 'response');
      const [refused, progress, done] = events;
      assert.deepEqual([refused?.['event'], progress?.['event'], done?.['event']], ['refused', 'progress', 'done']);
      assert.deepEqual([done?.['read'], done?.['refused']], [3, 1]);
    });
  });
});

function parseLines(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
