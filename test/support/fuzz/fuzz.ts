// A property-based fuzzer of a read-only interface. It reads the OpenAPI document that the service serves. It sends requests that
// the document allows, requests with one wrong or repeated parameter, and malformed paths. Each finding is shrunk to the smallest
// request that shows it.

import http from 'node:http';
import fc from 'fast-check';
import type { KnownValues } from './known-values.ts';
import { createKnownValues } from './known-values.ts';
import type { ResponseChecks } from './checks.ts';
import { createResponseChecks } from './checks.ts';
import type { Operation, Parameter } from './document.ts';
import { isValidText, readOperations, toArbitrary, toNearMiss } from './document.ts';

export type FuzzOptions = {
  url: string;
  /** The prefix of the interface, such as `/v1`. */
  prefix: string;
  /** Requests that are sent first. Their responses name collections, tokens, wallets and orders that exist. */
  first?: readonly string[];
  seed: number;
  /**
   * How many valid requests are sent for each operation. The same number of requests is sent for each parameter with a wrong value, for
   * each query parameter given twice, and for each path parameter with a malformed segment.
   */
  runs: number;
  /**
   * Query parameters whose values only the service can issue, such as cursors. The service must reject every generated value of such a
   * parameter.
   */
  authenticated: ReadonlySet<string>;
  /** Parameters with rules that the document cannot express: the service may reject a value that the document allows. */
  judgedByService: ReadonlySet<string>;
};

/** A response that failed a check. `message` names the request and the path of fast-check, with which the run can be repeated. */
export type Finding = { operation: string; kind: Kind; message: string };
export type FuzzReport = { requests: number; accepted: number; findings: Finding[] };

type Kind = 'allowed' | 'one value wrong' | 'given twice' | 'raw path';
type Values = Record<string, string>;
export type FuzzResponse = { status: number; headers: http.IncomingHttpHeaders; text: string };

export async function fuzzContract(options: FuzzOptions): Promise<FuzzReport> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const report: FuzzReport = { requests: 0, accepted: 0, findings: [] };
  const send: Send = async (target) => {
    report.requests += 1;
    const response = await get(options.url, target, agent);
    if (response.status === 200) report.accepted += 1;
    return response;
  };
  try {
    const document: unknown = JSON.parse((await send(`${options.prefix}/openapi.json`)).text);
    const context: Context = { ...options, send, checks: createResponseChecks(document), known: createKnownValues() };
    for (const target of options.first ?? []) context.known.add((await send(target)).text);
    await collectNames(context, readOperations(document));
    for (const operation of readOperations(document)) {
      for (const { kind, property } of listProperties(context, operation)) {
        const details = await fc.check(property, { seed: options.seed, numRuns: options.runs });
        if (!details.failed) continue;
        const { message } = details.errorInstance as Error;
        report.findings.push({
          operation: operation.path,
          kind,
          message: `${message} (path ${details.counterexamplePath})`,
        });
      }
    }
  } finally {
    agent.destroy();
  }
  return report;
}

type Send = (target: string) => Promise<FuzzResponse>;
type Context = FuzzOptions & { send: Send; checks: ResponseChecks; known: KnownValues };
type Property = { kind: Kind; property: fc.IAsyncProperty<unknown> };

/** How many requests are sent to each operation at most, before the fuzzing begins. */
const FIRST_REQUESTS_MAX = 12;

/** Sends requests to each operation with the names that are known so far. So later requests can name collections and tokens that exist. */
async function collectNames({ send, known }: Context, operations: readonly Operation[]): Promise<void> {
  for (const operation of operations) {
    for (const values of known.valuesOf(operation).slice(0, FIRST_REQUESTS_MAX)) {
      known.add((await send(toTarget(operation, values))).text);
    }
  }
}

function listProperties(context: Context, operation: Operation): Property[] {
  const query = operation.parameters.filter((parameter) => parameter.in === 'query');
  const path = operation.parameters.filter((parameter) => parameter.in === 'path');
  return [
    { kind: 'allowed', property: allowedRequests(context, operation) },
    ...operation.parameters.map((parameter) => ({
      kind: 'one value wrong' as const,
      property: oneValueWrong(context, operation, parameter),
    })),
    ...query
      .filter((parameter) => !parameter.isRepeatable)
      .map((parameter) => ({
        kind: 'given twice' as const,
        property: givenTwice(context, operation, parameter),
      })),
    ...path.map((parameter) => ({ kind: 'raw path' as const, property: rawPaths(context, operation, parameter) })),
  ];
}

/**
 * A request that the document allows gets a documented response. A request with a parameter of `authenticated` must not be accepted. A
 * request with a parameter of `judgedByService` may be rejected. Every other request must not be rejected, and the request for its next
 * page must not be rejected either.
 */
function allowedRequests(context: Context, operation: Operation): fc.IAsyncProperty<unknown> {
  const { authenticated, judgedByService, checks, send, known } = context;
  return fc.asyncProperty(allowedValues(context, operation), async (values) => {
    const target = toTarget(operation, values);
    const response = await send(target);
    checks.documented(operation, target, response);
    known.add(response.text);
    const names = Object.keys(values);
    if (names.some((name) => authenticated.has(name))) checks.notAccepted(target, response);
    else if (!names.some((name) => judgedByService.has(name))) checks.notRejected(target, response);
    const next = nextCursorOf(response);
    if (next === null) return;
    const nextTarget = toTarget(operation, { ...values, cursor: next });
    const nextResponse = await send(nextTarget);
    checks.documented(operation, nextTarget, nextResponse);
    checks.notRejected(nextTarget, nextResponse);
  });
}

/**
 * A value that the document does not allow is rejected. A generated value may be valid by chance. It is then not rejected.
 */
function oneValueWrong(context: Context, operation: Operation, parameter: Parameter): fc.IAsyncProperty<unknown> {
  const { checks, send, authenticated, judgedByService } = context;
  const isQuery = parameter.in === 'query';
  const wrong = fc.oneof(junk(), toNearMiss(parameter.schema));
  return fc.asyncProperty(knownValues(context, operation), wrong, async (values, text) => {
    // A path segment that is empty, `.` or `..` would change the form of the path.
    if (!isQuery && (text === '' || /^\.{1,2}$/.test(text))) return;
    const target = toTarget(operation, { ...values, [parameter.name]: text });
    const response = await send(target);
    checks.documented(operation, target, response);
    if (authenticated.has(parameter.name) || !isValidText(parameter, text)) checks.rejected(target, response);
    else if (!judgedByService.has(parameter.name)) checks.notRejected(target, response);
  });
}

function givenTwice(context: Context, operation: Operation, parameter: Parameter): fc.IAsyncProperty<unknown> {
  const { checks, send } = context;
  const twice = fc.tuple(toArbitrary(parameter.schema), fc.oneof(toArbitrary(parameter.schema), junk()));
  return fc.asyncProperty(knownValues(context, operation), twice, async (values, [one, other]) => {
    const pair = `${encode(parameter.name)}=${encode(one)}&${encode(parameter.name)}=${encode(other)}`;
    const { [parameter.name]: _dropped, ...rest } = values;
    const target = toTarget(operation, rest);
    const repeated = `${target}${target.includes('?') ? '&' : '?'}${pair}`;
    const response = await send(repeated);
    checks.documented(operation, repeated, response);
    checks.rejected(repeated, response);
  });
}

const RAW_PARTS = [
  '% %zz %2 %C0%80 %ff %ED%A0%80 %00 %0d%0a %2f %2e%2e%2f ..%2f..%2fetc .. . %20 %09',
  '+ ; , : @ & = ! * ( ) [ ] { } | ^ " < >',
].flatMap((line) => line.split(' '));

/** A path with a malformed segment gets a success or the error envelope, but no response that shows a failure inside the service. */
function rawPaths(context: Context, operation: Operation, parameter: Parameter): fc.IAsyncProperty<unknown> {
  const { checks, send } = context;
  const part = fc.oneof(
    fc.constantFrom(...RAW_PARTS),
    fc.string({ unit: 'binary-ascii', maxLength: 8 }).map(keepSendable),
  );
  const raw = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
  const long = fc
    .tuple(raw, fc.integer({ min: 1, max: 3_000 }))
    .map(([text, times]) => text.repeat(times).slice(0, 9_000));
  return fc.asyncProperty(knownValues(context, operation), fc.oneof(raw, long), async (values, text) => {
    const target = toTarget(operation, values, { [parameter.name]: text });
    const response = await send(target);
    checks.successOrEnvelope(target, response);
  });
}

/** Values that the document allows. In two of three runs, the path parameters name a collection or token that exists. */
function allowedValues(context: Context, operation: Operation): fc.Arbitrary<Values> {
  const generated = fc.record(
    Object.fromEntries(operation.parameters.map((one) => [one.name, toArbitrary(one.schema)])),
    { requiredKeys: operation.parameters.filter((one) => one.required).map((one) => one.name) },
  );
  const query = operation.parameters.filter((one) => one.in === 'query' && !context.authenticated.has(one.name));
  const queryValues = fc.record(Object.fromEntries(query.map((one) => [one.name, toArbitrary(one.schema)])), {
    requiredKeys: query.filter((one) => one.required).map((one) => one.name),
  });
  const named = fc
    .tuple(knownValues(context, operation), queryValues)
    .map(([known, chosen]) => ({ ...known, ...chosen }));
  return fc.oneof({ weight: 2, arbitrary: named }, { weight: 1, arbitrary: generated });
}

/**
 * Path parameters that name a collection or token from an earlier response, and the required query parameters. While no collection or token
 * is known, there are no path parameters.
 */
function knownValues(context: Context, operation: Operation): fc.Arbitrary<Values> {
  const query = operation.parameters.filter((one) => one.in === 'query' && one.required);
  const required = fc.record(Object.fromEntries(query.map((one) => [one.name, toArbitrary(one.schema)])));
  return fc.tuple(fc.nat(), required).map(([index, values]) => {
    const sets = context.known.valuesOf(operation);
    return { ...sets[index % sets.length], ...values };
  });
}

const HARMFUL_TEXTS = [
  '| |0|-0|00|01|-1|+1|1.5|1e1|0x10|101|9007199254740993|1\n| 1|١٠|１|null|undefined|true|NaN|[]|{}|[object Object]',
  "__proto__|constructor|toString|\0|a\0b|'|' or ''='|'; --|$1|%|%00|../x|<script>|\u202e|\ufeff|🐙|ﬁ|e\u0301|Ethereum",
  `${'x'.repeat(300)}|${'x'.repeat(1_001)}|${'x'.repeat(9_000)}`,
].flatMap((line) => line.split('|'));

/** Texts of many kinds. Some are valid by chance. */
function junk(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...HARMFUL_TEXTS),
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed()),
    fc.bigInt().map(String),
    fc.integer({ min: -5, max: 105 }).map(String),
    fc.double().map(String),
    fc.jsonValue().map((value) => JSON.stringify(value).toWellFormed().slice(0, 1_000)),
  );
}

function toTarget({ path, parameters }: Operation, values: Values, raw: Values = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => raw[name] ?? encode(values[name] ?? 'x'));
  const query = parameters
    .filter((one) => one.in === 'query' && values[one.name] !== undefined)
    .map((one) => `${encode(one.name)}=${encode(values[one.name] ?? '')}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Removes characters that Node's client does not send. Also removes `?` and `#`, which would end the path. */
function keepSendable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]|[?#]/g, '');
}

function nextCursorOf(response: FuzzResponse): string | null {
  if (response.status !== 200) return null;
  const { pagination } = JSON.parse(response.text) as { pagination?: { nextCursor: string | null } };
  return pagination?.nextCursor ?? null;
}

const RESPONSE_LIMIT_MS = 60_000;

function get(url: string, target: string, agent: http.Agent): Promise<FuzzResponse> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = http.get({ hostname, port, path: target, agent, timeout: RESPONSE_LIMIT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no response to ${target.slice(0, 200)}`)));
    request.on('error', reject);
  });
}
