// Makes spans of requests and of traced operations. An AsyncLocalStorage holds the trace context of the current work. This context gives a new
// span its trace and its parent.

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TracedAttributes, TracedOperation } from '../../platform/core/traced.ts';
import { tracedOperations } from '../../platform/core/traced.ts';
import { pathOf } from '../../platform/http/request-target.ts';
import { traceOf } from '../../server/request-id.ts';
import type { EndedRequest, RequestTracer } from '../../server/request-observer.ts';
import { knownMethodOf } from '../../server/request-observer.ts';
import type { Sampler } from './sampler.ts';

/** Times are those of `performance.now()`. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the first span of a trace. */
  readonly parentId: string | null;
  readonly kind: 'server' | TracedOperation['kind'];
  name: string;
  startedAt: number;
  endedAt: number;
  attributes: TracedAttributes;
  hasFailed: boolean;
};

/** What child spans need to know about their parent span. `span` is null if the trace is not exported. */
class TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly span: Span | null;

  constructor(traceId: string, spanId: string, span: Span | null) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.span = span;
  }
}

const TEXT_LENGTH_MAX = 200;

export class Tracer implements RequestTracer {
  readonly #current = new AsyncLocalStorage<unknown>();
  readonly #ofRequests = new WeakMap<IncomingMessage, TraceContext>();
  readonly #ofOperations = new WeakMap<TracedOperation, Span>();
  readonly #isSampled: Sampler;
  readonly #onEnd: (span: Span) => void;
  readonly #subscriber = { asyncEnd: (operation: TracedOperation & { error?: unknown }) => this.#end(operation) };

  constructor(isSampled: Sampler, onEnd: (span: Span) => void) {
    this.#isSampled = isSampled;
    this.#onEnd = onEnd;
  }

  /** Makes spans of the traced operations of this process, until `stop` is called. */
  start(): void {
    tracedOperations.start.bindStore(this.#current, (operation) => this.#begin(operation));
    tracedOperations.subscribe(this.#subscriber);
  }

  stop(): void {
    tracedOperations.start.unbindStore(this.#current);
    tracedOperations.unsubscribe(this.#subscriber);
  }

  readonly enter = (request: IncomingMessage, run: () => void): void => {
    this.#current.run(this.#contextOf(request), run);
  };

  readonly observe = (ended: EndedRequest): void => {
    const { span } = this.#contextOf(ended.request);
    if (!span) return;
    const method = knownMethodOf(ended.request);
    const hasFailed = ended.status >= 500;
    span.name = [method ?? 'HTTP', ended.route].filter(Boolean).join(' ');
    span.endedAt = performance.now();
    span.startedAt = span.endedAt - ended.seconds * 1_000;
    span.hasFailed = hasFailed;
    span.attributes = {
      'http.request.method': method ?? '_OTHER',
      'http.response.status_code': ended.status,
      'url.scheme': 'http',
      ...(ended.target !== null && { 'url.path': pathOf(ended.target).slice(0, TEXT_LENGTH_MAX) }),
      ...(ended.route !== null && { 'http.route': ended.route }),
      ...(hasFailed && { 'error.type': String(ended.status) }),
      'mercat.request.id': ended.id,
    };
    this.#onEnd(span);
  };

  #contextOf(request: IncomingMessage): TraceContext {
    let context = this.#ofRequests.get(request);
    if (!context) {
      const parent = traceOf(request);
      context = this.#open('server', '', parent);
      this.#ofRequests.set(request, context);
    }
    return context;
  }

  /**
   * Returns the context in which the operation runs. If the trace of the parent is not exported, the operation runs in the context of the
   * parent. Returns undefined if the operation needs a parent and has none.
   */
  #begin(operation: TracedOperation): TraceContext | undefined {
    const stored = this.#current.getStore();
    const current = stored instanceof TraceContext ? stored : null;
    if (!current && operation.needsParent) return undefined;
    if (current && !current.span) return current;
    const parent = current && { traceId: current.traceId, parentId: current.spanId, isSampled: true };
    const context = this.#open(operation.kind, operation.name, parent);
    if (context.span) this.#ofOperations.set(operation, context.span);
    return context;
  }

  #end(operation: TracedOperation & { error?: unknown }): void {
    const span = this.#ofOperations.get(operation);
    if (!span) return;
    const failure = operation.error === undefined ? operation.failure : toErrorType(operation.error);
    span.endedAt = performance.now();
    span.hasFailed = failure !== undefined;
    span.attributes = { ...operation.attributes, ...(failure !== undefined && { 'error.type': failure }) };
    this.#onEnd(span);
  }

  #open(
    kind: Span['kind'],
    name: string,
    parent: { traceId: string; parentId: string; isSampled: boolean } | null,
  ): TraceContext {
    const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
    const spanId = randomBytes(8).toString('hex');
    if (kind === 'server' || !parent) {
      if (!this.#isSampled(traceId, parent?.isSampled ?? null)) return new TraceContext(traceId, spanId, null);
    }
    const startedAt = performance.now();
    const span: Span = {
      traceId,
      spanId,
      parentId: parent?.parentId ?? null,
      kind,
      name,
      startedAt,
      endedAt: startedAt,
      attributes: {},
      hasFailed: false,
    };
    return new TraceContext(traceId, spanId, span);
  }
}

/** The code of an error, such as an SQLSTATE, or else its class. Messages are not exported, because they may contain values. */
function toErrorType(error: unknown): string {
  if (!(error instanceof Error)) return 'Error';
  if ('code' in error && typeof error.code === 'string') return error.code.slice(0, TEXT_LENGTH_MAX);
  return error.name;
}
