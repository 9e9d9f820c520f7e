// Checks of responses to the fuzzer's requests. A check throws an error that names the request and the response.

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FuzzResponse } from './fuzz.ts';
import type { Operation } from './document.ts';

export type ResponseChecks = {
  /** The response has a documented status, JSON as its content type, and a body that is valid against its schema. */
  documented(operation: Operation, target: string, response: FuzzResponse): void;
  /**
   * The response is a success, or an error in the error envelope. Use this check for a malformed path: it may match another operation than the
   * tested one, or none.
   */
  successOrEnvelope(target: string, response: FuzzResponse): void;
  /** The status is 400. A 404 fails this check, because it would mean that the service has accepted the parameters as valid. */
  rejected(target: string, response: FuzzResponse): void;
  /** The status is 400 or above. */
  notAccepted(target: string, response: FuzzResponse): void;
  /** The status is not 400. */
  notRejected(target: string, response: FuzzResponse): void;
};

type Responses = Record<string, unknown>;
type Document = { paths: Record<string, { get: { responses: Responses } }> };

export function createResponseChecks(document: unknown): ResponseChecks {
  const { paths } = document as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document as object, 'document');

  const matches = (pointer: string, target: string, response: FuzzResponse): void => {
    const check = ajv.getSchema(`document#${pointer}`) ?? ajv.compile({ $ref: `document#${pointer}` });
    expect(
      check(parse(response.text)) === true,
      () => `has a body that does not match its schema (${ajv.errorsText(check.errors)})`,
      target,
      response,
    );
  };

  const checkBasics = (target: string, response: FuzzResponse): void => {
    expect(response.status < 500, () => 'has a status of 500 or above', target, response);
    const type = response.headers['content-type'] ?? '';
    expect(type.startsWith('application/json'), () => `has the content type ${type}`, target, response);
    expect(response.headers['x-content-type-options'] === 'nosniff', () => 'has no nosniff header', target, response);
  };

  return {
    documented: ({ path }, target, response) => {
      checkBasics(target, response);
      const hasDocumentedStatus = String(response.status) in (paths[path]?.get.responses ?? {});
      expect(hasDocumentedStatus, () => 'has a status that is not documented', target, response);
      const escaped = encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
      const pointer = `/paths/${escaped}/get/responses/${response.status}`;
      matches(`${pointer}/content/application~1json/schema`, target, response);
    },
    successOrEnvelope: (target, response) => {
      checkBasics(target, response);
      if (response.status !== 200) matches('/components/schemas/Error', target, response);
    },
    rejected: (target, response) => expect(response.status === 400, () => 'is not rejected with 400', target, response),
    notAccepted: (target, response) =>
      expect(response.status >= 400, () => 'was accepted, but is not valid', target, response),
    notRejected: (target, response) =>
      expect(response.status !== 400, () => 'was rejected, but is valid', target, response),
  };
}

function expect(holds: boolean, describe: () => string, target: string, response: FuzzResponse): void {
  if (holds) return;
  throw new Error(`${target.slice(0, 300)} ${describe()}: ${response.status} ${response.text.slice(0, 300)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
