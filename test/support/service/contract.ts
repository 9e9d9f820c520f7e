// Validates responses against the OpenAPI document that the service serves.

import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type ReceivedResponse = { status: number; headers: Headers; text: string; body: unknown };
type Operation = { responses: Record<string, { content?: Record<string, { schema: object }> }> };
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: object } };

export type OpenApiContract = {
  /** Fails the test when the document does not allow the response. */
  check(method: string, pathAndQuery: string, answer: ReceivedResponse): void;
};

/** Statuses that a response may have even if the document does not list them. The body must then be an error envelope. */
const ENVELOPE_ONLY = new Set([404, 405]);

export function createOpenApiContract(document: unknown): OpenApiContract {
  const { paths, components } = document as Document;
  const envelope = 'Error' in components.schemas ? 'Error' : 'StoreError';
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document as object, 'document');
  const routes = Object.keys(paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`),
  }));
  // Literal paths come before paths with parameters, as in the router.
  routes.sort((a, b) => a.path.split('{').length - b.path.split('{').length);

  const validate = (pointer: string, body: unknown, where: string) => {
    const check = ajv.getSchema(`document#${pointer}`) ?? ajv.compile({ $ref: `document#${pointer}` });
    assert.ok(
      check(body),
      `${where} does not conform to the document: ${ajv.errorsText(check.errors)}\n${JSON.stringify(body)?.slice(0, 500)}`,
    );
  };

  return {
    check: (method, pathAndQuery, answer) => {
      const where = `${method} ${pathAndQuery} ${answer.status}`;
      if (method === 'HEAD' || answer.status === 204 || answer.status === 304) {
        assert.equal(answer.text, '', `${where} has a body`);
        return;
      }
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/, where);
      const route = routes.find(({ pattern }) => pattern.test(pathAndQuery.split('?', 1)[0] ?? ''));
      const verb = route && paths[route.path]?.[method.toLowerCase()] ? method.toLowerCase() : 'get';
      const known = route && paths[route.path]?.[verb]?.responses[answer.status];
      if (!route || !known) {
        assert.ok(!route || ENVELOPE_ONLY.has(answer.status), `${where} is not in the document`);
        validate(`/components/schemas/${envelope}`, answer.body, where);
        return;
      }
      const escaped = encodeURIComponent(route.path.replaceAll('~', '~0').replaceAll('/', '~1'));
      const pointer = `/paths/${escaped}/${verb}/responses/${answer.status}/content/application~1json/schema`;
      validate(pointer, answer.body, where);
    },
  };
}
