// A property-based fuzzer of a read-only interface, driven by the OpenAPI document that the service itself serves: requests
// that the document allows, requests with one thing wrong, and malformed paths. Findings are returned as values,
// each shrunk to its smallest request.

import http from 'node:http';
import fc from 'fast-check';
import type { KnownValues } from './known-values.ts';
import { createKnownValues } from './known-values.ts';
import { createResponseChecks } from './checks.ts';
import type { Operation, Parameter } from './document.ts';
import { isValidText, readOperations, toArbitrary, toNearMiss } from './document.ts';

export type FuzzOptions = {
  url: string;
  seed: number;
  /** Requests for each operation and each of its parameters. */
  runs: number;
  /** Query parameters whose values only the service can make: no other is ever accepted. */
  authenticated: ReadonlySet<string>;
  /** Parameters whose rules the document cannot express: a value that it allows may be rejected. */
  judgedByService: ReadonlySet<string>;
};

/** One broken promise, with the request that shows it and what repeats it. */
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
    const answer = await get(options.url, target, agent);
    if (answer.status === 200) report.accepted += 1;
    return answer;
  };
  try {
    const document: unknown = JSON.parse((await send('/v1/openapi.json')).text);
    const context: Context = { ...options, send, judge: createResponseChecks(document), harvest: createKnownValues() };
    await gather(context, readOperations(document));
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
type Context = FuzzOptions & { send: Send; judge: ReturnType<typeof createResponseChecks>; harvest: KnownValues };
type Property = { kind: Kind; property: fc.IAsyncProperty<unknown> };

/** How many of each kind are read first. */
const GATHERED_MAX = 12;

/** Reads the lists first, so that requests can name what exists. */
async function gather({ send, harvest }: Context, operations: readonly Operation[]): Promise<void> {
  for (const operation of operations) {
    for (const values of harvest.valuesOf(operation).slice(0, GATHERED_MAX)) {
      harvest.add((await send(toTarget(operation, values))).text);
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
    ...query.map((parameter) => ({
      kind: 'given twice' as const,
      property: givenTwice(context, operation, parameter),
    })),
    ...path.map((parameter) => ({ kind: 'raw path' as const, property: rawPaths(context, operation, parameter) })),
  ];
}

/** A request that the document allows gets the documented response, is never rejected, and its next page exists. */
function allowedRequests(context: Context, operation: Operation): fc.IAsyncProperty<unknown> {
  const { authenticated, judgedByService, judge, send, harvest } = context;
  return fc.asyncProperty(allowedValues(context, operation), async (values) => {
    const target = toTarget(operation, values);
    const answer = await send(target);
    judge.answer(operation, target, answer);
    harvest.add(answer.text);
    const names = Object.keys(values);
    if (names.some((name) => authenticated.has(name))) judge.notAccepted(target, answer);
    else if (!names.some((name) => judgedByService.has(name))) judge.notRefused(target, answer);
    const next = nextCursorOf(answer);
    if (next === null) return;
    const nextTarget = toTarget(operation, { ...values, cursor: next });
    const nextAnswer = await send(nextTarget);
    judge.answer(operation, nextTarget, nextAnswer);
    judge.notRefused(nextTarget, nextAnswer);
  });
}

/** A value that the document does not allow is rejected, whatever the other parameters are. */
function oneValueWrong(context: Context, operation: Operation, parameter: Parameter): fc.IAsyncProperty<unknown> {
  const { judge, send, authenticated, judgedByService } = context;
  const isQuery = parameter.in === 'query';
  const wrong = fc.oneof(junk(), toNearMiss(parameter.schema));
  return fc.asyncProperty(knownValues(context, operation), wrong, async (values, text) => {
    // A path without one of its parts is another path.
    if (!isQuery && (text === '' || /^\.{1,2}$/.test(text))) return;
    const target = toTarget(operation, { ...values, [parameter.name]: text });
    const answer = await send(target);
    judge.answer(operation, target, answer);
    if (authenticated.has(parameter.name) || !isValidText(parameter, text)) judge.refused(target, answer);
    else if (!judgedByService.has(parameter.name)) judge.notRefused(target, answer);
  });
}

function givenTwice(context: Context, operation: Operation, parameter: Parameter): fc.IAsyncProperty<unknown> {
  const { judge, send } = context;
  const twice = fc.tuple(toArbitrary(parameter.schema), fc.oneof(toArbitrary(parameter.schema), junk()));
  return fc.asyncProperty(knownValues(context, operation), twice, async (values, [one, other]) => {
    const pair = `${encode(parameter.name)}=${encode(one)}&${encode(parameter.name)}=${encode(other)}`;
    const { [parameter.name]: _dropped, ...rest } = values;
    const target = toTarget(operation, rest);
    const repeated = `${target}${target.includes('?') ? '&' : '?'}${pair}`;
    const answer = await send(repeated);
    judge.answer(operation, repeated, answer);
    judge.refused(repeated, answer);
  });
}

const RAW_PARTS = [
  '% %zz %2 %C0%80 %ff %ED%A0%80 %00 %0d%0a %2f %2e%2e%2f ..%2f..%2fetc .. . %20 %09',
  '+ ; , : @ & = ! * ( ) [ ] { } | ^ " < >',
].flatMap((line) => line.split(' '));

/** Path segments that no client writes get a response of the interface, and never a success by accident. */
function rawPaths(context: Context, operation: Operation, parameter: Parameter): fc.IAsyncProperty<unknown> {
  const { judge, send } = context;
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
    const answer = await send(target);
    judge.envelope(target, answer);
  });
}

/** Values that the document allows: of path parameters also those that name something. */
function allowedValues(context: Context, operation: Operation): fc.Arbitrary<Values> {
  const generated = fc.record(
    Object.fromEntries(operation.parameters.map((one) => [one.name, toArbitrary(one.schema)])),
    { requiredKeys: operation.parameters.filter((one) => one.required).map((one) => one.name) },
  );
  const query = operation.parameters.filter((one) => one.in === 'query' && !context.authenticated.has(one.name));
  const asked = fc.record(Object.fromEntries(query.map((one) => [one.name, toArbitrary(one.schema)])), {
    requiredKeys: [],
  });
  const named = fc.tuple(knownValues(context, operation), asked).map(([known, more]) => ({ ...known, ...more }));
  return fc.oneof({ weight: 2, arbitrary: named }, { weight: 1, arbitrary: generated }) as fc.Arbitrary<Values>;
}

/** Path parameters that name something that exists. */
function knownValues(context: Context, operation: Operation): fc.Arbitrary<Values> {
  return fc.nat().map((index) => {
    const known = context.harvest.valuesOf(operation);
    return known[index % known.length] ?? {};
  });
}

const NASTY = [
  '| |0|-0|00|01|-1|+1|1.5|1e1|0x10|101|9007199254740993|1\n| 1|١٠|１|null|undefined|true|NaN|[]|{}|[object Object]',
  "__proto__|constructor|toString|\0|a\0b|'|' or ''='|'; --|$1|%|%00|../x|<script>|\u202e|\ufeff|🐙|ﬁ|e\u0301|Ethereum",
  `${'x'.repeat(300)}|${'x'.repeat(1_001)}|${'x'.repeat(9_000)}`,
].flatMap((line) => line.split('|'));

/** Text of any kind, as likely as not wrong. */
function junk(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...NASTY),
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

/** Node's client refuses to send some characters at all; `?` and `#` would end the path. */
function keepSendable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]|[?#]/g, '');
}

function nextCursorOf(answer: FuzzResponse): string | null {
  if (answer.status !== 200) return null;
  const { pagination } = JSON.parse(answer.text) as { pagination?: { nextCursor: string | null } };
  return pagination?.nextCursor ?? null;
}

const ANSWER_LIMIT_MS = 60_000;

function get(url: string, target: string, agent: http.Agent): Promise<FuzzResponse> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = http.get({ hostname, port, path: target, agent, timeout: ANSWER_LIMIT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer to ${target.slice(0, 200)}`)));
    request.on('error', reject);
  });
}
