// A stateful fuzzer of an interface with an OpenAPI document. A case is a sequence of requests that create, read, change and delete resources.
// A request can use ids from earlier responses of the same case. Each response is checked against the document. After each change, the
// resource is read and compared with the response to the change. A failing case is shrunk, and printed as curl commands.

import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import http from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import type { JsonSchema } from './json-arbitrary.ts';
import { bodyTexts, HARMFUL_VALUES, toJson } from './json-arbitrary.ts';

export type StatefulOptions = {
  url: string;
  document: unknown;
  /** The seed of the first batch of cases. Each further batch has the next number as its seed. */
  seed: number;
  cases: number;
  /** Makes the credentials of a case: the value of the header Authorization. Absent: the interface needs no key and creates no resources. */
  authorize?: () => Promise<string>;
  /** The forms of the ids that the fuzzer takes from responses, by the name of the parameter in which it sends such an id. */
  ids: Readonly<Record<string, RegExp>>;
  /** Arbitraries of body properties that the document describes too loosely, by name. */
  properties?: Readonly<Record<string, fc.Arbitrary<unknown>>>;
  /** Valid bodies by operation id, in place of the example of the document. */
  bodies?: Readonly<Record<string, readonly unknown[]>>;
  /** Fields that background work may change between a change and the read after it. They are not compared. */
  changingFields?: readonly string[];
  /** Statuses of at least 500 that are no failure. A change with such a response is not read back. */
  toleratedStatuses: readonly number[];
};

export type StatefulReport = {
  cases: number;
  requests: number;
  /** The number of responses by operation and status. An example of a key is `POST /api/v1/products 201`. */
  statuses: Map<string, number>;
  /** Each failing case as text: what is wrong, the seed, and the requests as curl commands. */
  failures: string[];
};

/** The number of cases in a batch. A failure ends only its batch: the next batch has the next seed. */
const BATCH_SIZE = 250;
/** The fuzzing ends after this many batches with a failing case. */
const FAILURES_MAX = 8;
/**
 * The shrinking of a failing case ends after this many runs. A case whose bodies have many lines has so many smaller variants that the shrinking would
 * otherwise take hours.
 */
const SHRINKING_RUNS_MAX = 500;
const REQUESTS_MAX = 8;
const CREATING_MAX = 4;
/** A longer text is no id. It would make a URL longer than the server reads. */
const ID_LENGTH_MAX = 1_000;
const RESPONSE_LIMIT_MS = 60_000;

export async function fuzzStateful(options: StatefulOptions): Promise<StatefulReport> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  const report: StatefulReport = { cases: 0, requests: 0, statuses: new Map(), failures: [] };
  const document = readDocument(options.document);
  const validator = createValidator(options.document);
  const requests = casesOf(document, options);
  let hasFailed = false;
  let shrinkingRuns = 0;
  const property = fc.asyncProperty(requests, async (plans) => {
    if (!hasFailed) report.cases += 1;
    else if (++shrinkingRuns > SHRINKING_RUNS_MAX) return;
    const fuzzCase = new FuzzCase({ ...options, agent, document, validator, report });
    try {
      await fuzzCase.run(plans);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
  try {
    for (let batch = 0; batch * BATCH_SIZE < options.cases && report.failures.length < FAILURES_MAX; batch += 1) {
      const seed = options.seed + batch;
      const numRuns = Math.min(BATCH_SIZE, options.cases - batch * BATCH_SIZE);
      [hasFailed, shrinkingRuns] = [false, 0];
      const details = await fc.check(property, { seed, numRuns });
      if (!details.failed) continue;
      const { message } = details.errorInstance as Error;
      report.failures.push(`seed ${seed}, case ${details.numRuns}: ${message}`);
    }
  } finally {
    agent.destroy();
  }
  return report;
}

type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: JsonSchema };
type Operation = {
  operationId: string;
  method: string;
  path: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
};
type Document = { operations: Operation[]; schemas: Record<string, JsonSchema> };

const METHODS = ['get', 'post', 'put', 'delete', 'patch'];

function readDocument(value: unknown): Document {
  const { paths, components } = value as {
    paths: Record<string, Record<string, Omit<Operation, 'method' | 'path' | 'parameters'> & Partial<Operation>>>;
    components: { schemas: Record<string, JsonSchema> };
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method, one]) => METHODS.includes(method) && !isEndless(one))
      .map(([method, one]) => ({
        ...one,
        method: method.toUpperCase(),
        path,
        parameters: (one.parameters ?? []).map(toTextParameter),
      })),
  );
  return { operations, schemas: components.schemas };
}

/** Replaces a parameter that is an object (`deepObject`) by a text parameter for one of its members. */
function toTextParameter(parameter: Parameter): Parameter {
  if (parameter.schema.type !== 'object') return parameter;
  return { ...parameter, name: `${parameter.name}[Wind]`, schema: { type: 'string' } };
}

/** Whether the operation returns a stream. The fuzzer leaves out such an operation, because the response does not end. */
function isEndless({ responses }: Pick<Operation, 'responses'>): boolean {
  return 'text/event-stream' in (responses['200']?.content ?? {});
}

/** A planned request, in which placeholders such as `{{productId:0}}` are not replaced yet. Undefined parameters are not sent. */
type Plan = {
  operation: Operation;
  parameters: Record<string, string | undefined>;
  contentType: string | null;
  body: string | null;
  /** How the request is authorised. `wrong`: with an unknown key. */
  key: 'own' | 'wrong' | 'none';
};

/**
 * A case begins with requests that create resources, most of them with a valid body, so that later requests can use their ids. If the
 * interface creates no resources, a case begins with the reads that need no id.
 */
function casesOf(document: Document, options: StatefulOptions): fc.Arbitrary<Plan[]> {
  const requestsOf = (operations: readonly Operation[], prefersExamples: boolean) =>
    fc.oneof(...operations.map((operation) => requestsOfOne(operation, document, { ...options, prefersExamples })));
  const needsNoId = document.operations.filter(({ path }) => !path.includes('{'));
  const reading = needsNoId.filter(({ method }) => method === 'GET');
  const creating = needsNoId.filter(({ method }) => method === 'POST');
  const bounds = { maxLength: REQUESTS_MAX, size: 'max' } as const;
  const any = fc.array(requestsOf(document.operations, false), { ...bounds, minLength: 1 });
  const first =
    options.authorize === undefined
      ? fc.constant(reading.map(toPlainRead))
      : fc.array(requestsOf(creating, true), { ...bounds, maxLength: CREATING_MAX });
  return fc.tuple(first, any).map(([before, then]) => [...before, ...then]);
}

function toPlainRead(operation: Operation): Plan {
  return { operation, parameters: {}, contentType: null, body: null, key: 'own' };
}

function requestsOfOne(
  operation: Operation,
  { schemas }: Document,
  { ids, properties = {}, bodies: validBodies = {}, prefersExamples }: StatefulOptions & { prefersExamples: boolean },
): fc.Arbitrary<Plan> {
  const parameters = operation.parameters.map((one) => {
    const isKnown = Object.hasOwn(ids, one.name);
    const texts = fc.oneof(
      { weight: isKnown ? 8 : 0, arbitrary: placeholders(one.name) },
      { weight: 4, arbitrary: toJson(one.schema, { schemas, properties: {} }).map(String) },
      { weight: 1, arbitrary: fc.constantFrom(...HARMFUL_VALUES, '-1', '0', '1e3', 'x'.repeat(2_000)) },
    );
    const isNeeded = one.in === 'path';
    return [one.name, isNeeded ? texts : fc.option(texts, { nil: undefined, freq: 2 })] as const;
  });
  const content = Object.entries(operation.requestBody?.content ?? {});
  const bodies = content.map(([contentType, { schema, example }]) => {
    const examples = validBodies[operation.operationId] ?? (example === undefined ? [] : [example]);
    const generated = contentBodies(schema, examples, { schemas, properties });
    const unchanged = fc.constantFrom(...examples).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    const texts =
      prefersExamples && examples.length > 0
        ? fc.oneof({ weight: 3, arbitrary: unchanged }, { weight: 1, arbitrary: generated })
        : generated;
    return texts.map((body) => ({ contentType, body }));
  });
  return fc
    .record({
      parameters: fc.record(Object.fromEntries(parameters)),
      content: bodies.length > 0 ? fc.oneof(...bodies) : fc.constant({ contentType: null, body: null }),
      key: fc.oneof(
        { weight: 40, arbitrary: fc.constant('own' as const) },
        { weight: 1, arbitrary: fc.constantFrom('wrong' as const, 'none' as const) },
      ),
    })
    .map(({ content: { contentType, body }, ...rest }) => ({ operation, contentType, body, ...rest }));
}

/** Bodies of one media type. Text that consists of lines has up to four lines. */
function contentBodies(
  schema: JsonSchema,
  examples: readonly unknown[],
  options: Parameters<typeof bodyTexts>[2],
): fc.Arbitrary<string> {
  const { contentSchema } = schema;
  if (!contentSchema)
    return schema.type === 'string'
      ? fc.constantFrom('', 'a,b\n1,2\n', ...HARMFUL_VALUES)
      : bodyTexts(schema, examples, options);
  const exampleLines = examples
    .flatMap((example) => String(example).split('\n'))
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
  const line = bodyTexts(contentSchema, exampleLines, options);
  return fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'));
}

export function placeholders(name: string): fc.Arbitrary<string> {
  return fc.nat({ max: 3 }).map((index) => `{{${name}:${index}}}`);
}

type CaseOptions = StatefulOptions & {
  agent: http.Agent;
  document: Document;
  validator: Validator;
  report: StatefulReport;
};
type Sent = { method: string; target: string; headers: Record<string, string>; body: string | null };
type Received = { status: number; headers: IncomingHttpHeaders; text: string };

class FuzzCase {
  readonly #options: CaseOptions;
  readonly #known = new Map<string, string[]>();
  readonly #sent: Sent[] = [];
  #authorization: string | null = null;

  constructor(options: CaseOptions) {
    this.#options = options;
  }

  /** Rejects if a check fails. The message of the error says what is wrong, and lists the requests of the case as curl commands. */
  async run(plans: readonly Plan[]): Promise<void> {
    this.#authorization = (await this.#options.authorize?.()) ?? null;
    try {
      for (const plan of plans) await this.#runOne(plan);
    } catch (error) {
      const requests = this.#sent.map((sent) => toCurl(this.#options.url, sent)).join('\n');
      throw new Error(`${(error as Error).message}\n${requests}`, { cause: error });
    }
  }

  async #runOne(plan: Plan): Promise<void> {
    const { operation } = plan;
    const sent = this.#toRequest(plan);
    const response = await this.#send(operation, sent);
    // No ids are learned from the OpenAPI document, because no resource has the ids of its examples.
    if (!operation.path.endsWith('/openapi.json')) this.#learn(response.text);
    const isReplayed = response.headers['idempotent-replayed'] !== undefined;
    if (response.status < 300 && !isReplayed) await this.#readBack(operation, sent, response);
  }

  /** Asserts that the resource has the data of the response to a creation or a change, and that a deleted resource does not exist. */
  async #readBack({ method }: Operation, sent: Sent, response: Received): Promise<void> {
    if (method === 'GET') return;
    const { data } = (parseJson(response.text) ?? {}) as {
      data?: { id?: string; orderId?: string; deleted?: true; secret?: string };
    };
    const id = data?.id ?? data?.orderId;
    if (data === undefined || id === undefined) return;
    const [path = ''] = sent.target.split('?', 1);
    const segment = `/${encodeURIComponent(id)}`;
    const [parent = path] = path.split(segment, 1);
    const target = parent + segment;
    const reading = this.#options.document.operations.find(
      (one) => one.method === 'GET' && patternOf(one.path).test(target),
    );
    if (!reading) return;
    const headers = this.#authorization === null ? {} : { authorization: this.#authorization };
    const read = await this.#send(reading, { method: 'GET', target, headers, body: null });
    if (read.status >= 500) return;
    if (data.deleted) return assert.equal(read.status, 404, 'a deleted resource is still there');
    assert.equal(read.status, 200, 'a stored resource cannot be read');
    const { secret: _secret, ...visible } = data;
    const { data: stored } = JSON.parse(read.text) as { data: object };
    for (const [name, value] of Object.entries(visible)) {
      if (this.#options.changingFields?.includes(name)) continue;
      assert.deepEqual(
        (stored as Record<string, unknown>)[name],
        value,
        `a read returns another ${name} than the change`,
      );
    }
  }

  #toRequest({ operation, parameters, contentType, body, key }: Plan): Sent {
    const fill = (text: string) => this.#fill(text);
    const valueOf = (name: string) => {
      const text = parameters[name];
      return text === undefined ? undefined : fill(text);
    };
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeSegment(valueOf(name) ?? ''));
    const query = operation.parameters
      .filter((one) => one.in === 'query')
      .flatMap(({ name }) => {
        const value = valueOf(name);
        return value === undefined ? [] : [`${name}=${encode(value)}`];
      });
    const headers: Record<string, string> = {};
    for (const { name, in: place } of operation.parameters) {
      const value = place === 'header' ? valueOf(name) : undefined;
      if (value !== undefined) headers[name] = toHeaderValue(value);
    }
    if (body !== null && contentType !== null) headers['content-type'] = contentType;
    const authorization = { own: this.#authorization, wrong: 'Bearer mercat_live_wrong', none: null }[key];
    if (authorization !== null) headers['authorization'] = authorization;
    const target = query.length > 0 ? `${path}?${query.join('&')}` : path;
    return { method: operation.method, target, headers, body: body === null ? null : fill(body) };
  }

  #fill(text: string): string {
    return text.replaceAll(/\{\{(\w+):(\d+)\}\}/g, (_, name: string, index: string) => {
      const values = this.#known.get(name) ?? [];
      return values[Number(index) % values.length] ?? 'unknown';
    });
  }

  #learn(text: string): void {
    const walk = (value: unknown): void => {
      if (typeof value === 'string') {
        for (const [name, pattern] of Object.entries(this.#options.ids)) {
          if (value.length <= ID_LENGTH_MAX && pattern.test(value))
            this.#known.set(name, [...new Set([...(this.#known.get(name) ?? []), value])]);
        }
      } else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) walk(inner);
    };
    for (const line of text.split('\n')) walk(parseJson(line));
  }

  async #send(operation: Operation, sent: Sent): Promise<Received> {
    const { url, agent, report, validator, toleratedStatuses } = this.#options;
    this.#sent.push(sent);
    const received = await exchange(url, sent, agent);
    const name = `${operation.method} ${operation.path} ${received.status}`;
    report.requests += 1;
    report.statuses.set(name, (report.statuses.get(name) ?? 0) + 1);
    const isServerError = received.status >= 500 && !toleratedStatuses.includes(received.status);
    assert.ok(!isServerError, `${name}: ${received.text.slice(0, 300)}`);
    validator(operation, received);
    return received;
  }
}

type Validator = (operation: Operation, received: Received) => void;

/** Throws if the document does not have the status, or if the body does not match its schema. */
function createValidator(document: unknown): Validator {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document as object, 'document');
  const compiled = new Map<string, ValidateFunction>();
  const compile = (pointer: string) => {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, check);
    return check;
  };
  return ({ method, path, responses }, { status, headers, text }) => {
    const name = `${method} ${path} ${status}`;
    const documented = responses[status];
    assert.ok(documented, `${name} is not documented: ${text.slice(0, 300)}`);
    const types = Object.entries(documented.content ?? {});
    if (types.length === 0) return assert.equal(text, '', `${name} has a body`);
    const type = (headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    const [, content] = types.find(([one]) => one === type) ?? [];
    assert.ok(content, `${name} has the content type ${type}`);
    const escape = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
    const pointer = `/paths/${escape(path)}/${method.toLowerCase()}/responses/${status}/content/${escape(type)}/schema`;
    const isLines = content.schema.contentSchema !== undefined;
    const check = compile(isLines ? `${pointer}/contentSchema` : pointer);
    const values = isLines ? text.split('\n').filter((line) => line !== '') : [text];
    for (const value of values) {
      assert.ok(
        check(parseJson(value)),
        `${name} does not match its schema: ${ajv.errorsText(check.errors)}: ${value.slice(0, 300)}`,
      );
    }
  };
}

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** An empty segment, `.` and `..` would make another path. */
function encodeSegment(text: string): string {
  return /^\.{0,2}$/.test(text) ? 'x' : encode(text);
}

/** Replaces the characters that Node's client refuses to send in a header. */
function toHeaderValue(text: string): string {
  return text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '?').trim();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toCurl(url: string, { method, target, headers, body }: Sent): string {
  const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const shown = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const data = body === null ? [] : [`--data-binary ${quote(body.length > 2_000 ? `${body.slice(0, 2_000)}…` : body)}`];
  return ['curl', '-X', method, quote(url + target), ...shown, ...data].join(' ');
}

function exchange(url: string, { method, target, headers, body }: Sent, agent: http.Agent): Promise<Received> {
  const { hostname, port } = new URL(url);
  const bytes = body === null ? null : Buffer.from(body.toWellFormed());
  const length = bytes === null ? {} : { 'content-length': bytes.length };
  const options = {
    hostname,
    port,
    path: target,
    method,
    agent,
    headers: { ...headers, ...length },
    timeout: RESPONSE_LIMIT_MS,
  };
  return new Promise((resolve, reject) => {
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no response to ${method} ${target.slice(0, 200)}`)));
    request.on('error', reject);
    request.end(bytes ?? undefined);
  });
}
