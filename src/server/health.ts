// GET /livez and GET /readyz, for process managers and load balancers. They are answered before the edge, so that neither rate limits nor
// load shedding affect them.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { ServiceError } from '../platform/core/errors.ts';
import type { Database } from '../platform/database/port.ts';
import { sendErrorResponse, toErrorResponse } from '../platform/http/error-response.ts';
import { pathOf } from '../platform/http/request-target.ts';
import { readOncePerSecond } from './recent-read.ts';

/** The time limit of a check of the primary. */
const CHECK_TIMEOUT_MS = 1_000;
/** The time limit for the embedded database. It is longer, because an import holds the only connection while it writes a batch. */
const EMBEDDED_CHECK_TIMEOUT_MS = 5_000;
/** After a response to any statement, the primary counts as in reach for this long, even if all connections are too busy for a check. */
const RESPONDED_MS = 2_000;

/** Whether the service can serve requests. */
export class Health {
  #phase: 'starting' | 'serving' | 'draining' = 'starting';
  readonly #isPrimaryInReach: () => Promise<boolean>;
  readonly #listDegraded: () => string[];

  /** `listDegraded`: what does not work although requests can be served. Default: nothing. */
  constructor(isPrimaryInReach: () => Promise<boolean>, listDegraded: () => string[] = () => []) {
    this.#isPrimaryInReach = isPrimaryInReach;
    this.#listDegraded = listDegraded;
  }

  /** Called when the service accepts requests. */
  serve(): void {
    this.#phase = 'serving';
  }

  /** Called when the shutdown begins. Requests are still served until the server closes. */
  drain(): void {
    this.#phase = 'draining';
  }

  get isDraining(): boolean {
    return this.#phase === 'draining';
  }

  /**
   * What does not work although this node can serve requests. Another node would not work better, for example because all nodes use the
   * database that accepts no writes.
   */
  listDegraded(): string[] {
    return this.#listDegraded();
  }

  /** Why requests should go to another node. Null if this node can serve them. */
  async findObstacle(): Promise<string | null> {
    if (this.#phase === 'starting') return 'The service is starting';
    if (this.#phase === 'draining') return 'The service is shutting down';
    return (await this.#isPrimaryInReach()) ? null : 'The primary database is out of reach';
  }
}

/** Returns a function that checks the primary. The function sends at most one statement a second. */
export function createPrimaryCheck(main: Database): () => Promise<boolean> {
  const timeoutMs = main.engine === 'embedded' ? EMBEDDED_CHECK_TIMEOUT_MS : CHECK_TIMEOUT_MS;
  return readOncePerSecond(async () => {
    if (performance.now() - main.pool().respondedAt < RESPONDED_MS) return true;
    try {
      await main.within(timeoutMs).query('select 1');
      return true;
    } catch {
      // The reason is not logged here. Each request that fails for this reason logs it.
      return performance.now() - main.pool().respondedAt < RESPONDED_MS;
    }
  });
}

/** Answers the health checks, and passes all other requests to `next`. */
export function answerHealthChecks(
  health: Pick<Health, 'findObstacle'> & Partial<Pick<Health, 'listDegraded'>>,
  next: RequestListener,
): RequestListener {
  return (request, response) => {
    const check = CHECKS[pathOf(request.url ?? '')];
    if (check === undefined) return next(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const error = new ServiceError('method_not_allowed', `Method ${request.method} is not allowed here`);
      return sendErrorResponse(request, response, toErrorResponse(error), { allow: 'GET, HEAD' });
    }
    if (check === 'live') return sendOk(request, response, { status: 'alive' });
    void health.findObstacle().then((obstacle) => {
      if (obstacle === null) {
        const degraded = health.listDegraded?.() ?? [];
        return sendOk(request, response, { status: 'ready', ...(degraded.length > 0 && { degraded }) });
      }
      return sendErrorResponse(request, response, toErrorResponse(new ServiceError('unavailable', obstacle)));
    });
  };
}

const CHECKS: Readonly<Record<string, 'live' | 'ready' | undefined>> = { '/livez': 'live', '/readyz': 'ready' };

function sendOk(request: IncomingMessage, response: ServerResponse, data: object): void {
  const body = JSON.stringify({ data });
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
