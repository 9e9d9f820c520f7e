// What every response has to satisfy. A violation is thrown, with the request that shows it.

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FuzzResponse } from './fuzz.ts';
import type { Operation } from './document.ts';

export type ResponseChecks = {
  /** A documented status, the content type, and a body that is valid against its schema. */
  answer(operation: Operation, target: string, answer: FuzzResponse): void;
  /** A response of the interface, whatever the path means: a success or the error envelope. */
  envelope(target: string, answer: FuzzResponse): void;
  /** With 400: not with a success, and not as if it were well formed but unknown. */
  refused(target: string, answer: FuzzResponse): void;
  notAccepted(target: string, answer: FuzzResponse): void;
  notRefused(target: string, answer: FuzzResponse): void;
};

type Responses = Record<string, unknown>;
type Document = { paths: Record<string, { get: { responses: Responses } }> };

export function createResponseChecks(document: unknown): ResponseChecks {
  const { paths } = document as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document as object, 'document');

  const matches = (pointer: string, target: string, answer: FuzzResponse): void => {
    const check = ajv.getSchema(`document#${pointer}`) ?? ajv.compile({ $ref: `document#${pointer}` });
    expect(
      check(parse(answer.text)) === true,
      () => `breaks its schema (${ajv.errorsText(check.errors)})`,
      target,
      answer,
    );
  };

  const always = (target: string, answer: FuzzResponse): void => {
    expect(answer.status < 500, () => 'is a failure inside the service', target, answer);
    const type = answer.headers['content-type'] ?? '';
    expect(type.startsWith('application/json'), () => `is ${type}`, target, answer);
    expect(answer.headers['x-content-type-options'] === 'nosniff', () => 'may be sniffed', target, answer);
  };

  return {
    answer: ({ path }, target, answer) => {
      always(target, answer);
      const documented = String(answer.status) in (paths[path]?.get.responses ?? {});
      expect(documented, () => 'has a status that is not documented', target, answer);
      const escaped = encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
      const response = `/paths/${escaped}/get/responses/${answer.status}`;
      matches(`${response}/content/application~1json/schema`, target, answer);
    },
    envelope: (target, answer) => {
      always(target, answer);
      if (answer.status !== 200) matches('/components/schemas/Error', target, answer);
    },
    refused: (target, answer) => expect(answer.status === 400, () => 'is not refused', target, answer),
    notAccepted: (target, answer) => expect(answer.status >= 400, () => 'accepts what is not valid', target, answer),
    notRefused: (target, answer) => expect(answer.status !== 400, () => 'refuses what is valid', target, answer),
  };
}

function expect(holds: boolean, broken: () => string, target: string, answer: FuzzResponse): void {
  if (holds) return;
  throw new Error(`${target.slice(0, 300)} ${broken()}: ${answer.status} ${answer.text.slice(0, 300)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
