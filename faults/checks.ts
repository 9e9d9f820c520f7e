// The checks that run after every fault. Acknowledged writes are stored, the stock of a product equals the replay of its log, and every event
// was delivered. Nothing is stale, every queue is empty, and every request succeeds again.

import type { Answer, Unexpected } from './client.ts';
import type { Fault } from './fault.ts';
import type { ExpectedEvent } from './ledger.ts';
import { MARKET_PATHS, STORE_PATHS } from './load.ts';
import type { Platform } from './platform.ts';
import { SUBJECT, toListing, toNdjson } from './records.ts';
import { inParallel } from '../test/support/service/shop.ts';
import { isReached } from './wait.ts';

/** What the checks saw, and the promises that were not kept. */
export type Checked = { facts: string[]; broken: string[] };

/**
 * The length of the lease of a delivery. If a process is killed while it holds this lease, another process makes the delivery only after
 * this time.
 */
const LEASE_MS = 60_000;
/** A price below every price of the load. */
const FRESH_PRICE = 1_000n;
const LOW_STOCK = 10;
const LISTED_MAX = 3;
/** How many lines the processes may log during a fault, however many requests fail. */
const LINES_MAX = 200;
const READS_AT_ONCE = 8;
/** How long the read of a token is repeated if the fault may have lost the token. */
const LOST_READ_MS = 5_000;

/** `limitMs`: after this time every request must succeed again, and nothing may be stale. */
export async function checkAfterFault(platform: Platform, fault: Fault, limitMs: number): Promise<Checked> {
  const checks = new Checks(platform, fault, limitMs);
  await checks.recovers();
  await checks.completesWrites();
  checks.expectsResponses();
  await checks.keepsStock();
  await checks.keepsProducts();
  await checks.keepsTokens();
  await checks.deliversEvents();
  await checks.emptiesQueues();
  await checks.servesFresh();
  checks.keepsRunning();
  return { facts: checks.facts, broken: checks.broken };
}

class Checks {
  readonly #platform: Platform;
  readonly #fault: Fault;
  readonly #limitMs: number;
  readonly facts: string[] = [];
  readonly broken: string[] = [];
  readonly #pids: readonly number[];
  #lost = 0;
  /** The low-stock events that the adjustment log requires. */
  readonly #lowStock: ExpectedEvent[] = [];

  constructor(platform: Platform, fault: Fault, limitMs: number) {
    this.#platform = platform;
    this.#fault = fault;
    this.#limitMs = limitMs;
    this.#pids = platform.programs.map(({ pid }) => pid);
  }

  /** Every read succeeds within the limit, and no response is degraded. */
  async recovers(): Promise<void> {
    const { client, mendedAt } = this.#platform;
    const deadline = mendedAt + this.#limitMs;
    for (const path of [...MARKET_PATHS, ...STORE_PATHS]) {
      let last: Answer | null = null;
      const isComplete = async () => {
        last = await client.send({ method: 'GET', path });
        return last.status === 200 && !isDegraded(last);
      };
      if (!(await isReached(isComplete, deadline))) {
        this.broken.push(`${path} still gets ${describe(last)} after ${this.#limitMs / 1_000} s`);
      }
    }
    const seconds = (performance.now() - mendedAt) / 1_000;
    this.facts.push(`complete responses after ${seconds.toFixed(1)} s`);
  }

  async completesWrites(): Promise<void> {
    const { load, client, during } = this.#platform;
    await load.stop(this.#limitMs);
    this.facts.push(`during: ${during.describe()}`, `after: ${client.takeTally().describe()}`);
    for (const sent of load.unacknowledged) this.broken.push(`${sent.method} ${sent.path} is not acknowledged`);
    if (this.#fault.mayLoseWrites) return;
    for (const { sent, answer } of load.rejections.slice(0, LISTED_MAX)) {
      this.broken.push(`${sent.method} ${sent.path} was rejected: ${describe(answer)}`);
    }
  }

  /** No response during the fault was unexpected, and the processes did not log a line for each failed request. */
  expectsResponses(): void {
    const { during, loggedDuring } = this.#platform;
    this.#expectOnly(during.unexpected, 'during the fault');
    this.facts.push(`${loggedDuring.length} lines logged during the fault`);
    if (loggedDuring.length > LINES_MAX)
      this.broken.push(`the log is flooded: ${loggedDuring.slice(-LISTED_MAX).join(' ')}`);
  }

  /** Each acknowledged adjustment is in the log exactly once, and the stock equals the replay of the log. */
  async keepsStock(): Promise<void> {
    const { ledger } = this.#platform;
    let entries = 0;
    for (const [id, initial] of ledger.initialStock) {
      const log = (await this.#readAll<LogEntry>(`/api/v1/inventory/adjustments?product_id=${id}`)).toReversed();
      entries += log.length;
      const counts = new Map<string, number>();
      let stock = initial;
      for (const { reason, previous, next, adjustment } of log) {
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
        if (previous !== stock || next !== previous + adjustment) {
          this.broken.push(
            `in the log of ${id}, the stock ${stock} is followed by ${previous} + ${adjustment} = ${next}`,
          );
        }
        if (previous > LOW_STOCK && next <= LOW_STOCK) this.#lowStock.push({ type: 'inventory.low', id, name: reason });
        stock = next;
      }
      for (const { marker } of ledger.movements.get(id) ?? []) {
        const count = counts.get(marker) ?? 0;
        if (count === 0) this.#lose(`the adjustment ${marker}`);
        if (count > 1) this.broken.push(`the adjustment ${marker} was made ${count} times`);
      }
      const { data } = await this.#read<{ data: { inventory: number } }>(`/api/v1/products/${id}`);
      if (data.inventory !== stock) this.broken.push(`the stock of ${id} is ${data.inventory}, its log says ${stock}`);
    }
    this.facts.push(`${entries} adjustments replayed`);
  }

  async keepsProducts(): Promise<void> {
    const { ledger } = this.#platform;
    const stored = new Map(
      (await this.#readAll<{ id: string; name: string }>('/api/v1/products')).map((one) => [one.id, one.name]),
    );
    for (const { id, name, isDeleted } of ledger.products.values()) {
      const found = stored.get(id);
      if (isDeleted && found !== undefined) this.#lose(`the deletion of ${id}`);
      if (!isDeleted && found !== name) this.#lose(`the product ${id} with the name “${name}”`);
    }
    this.facts.push(`${ledger.products.size} products`);
  }

  async keepsTokens(): Promise<void> {
    const { client, ledger } = this.#platform;
    const deadline = performance.now() + (this.#fault.mayLoseWrites ? LOST_READ_MS : this.#limitMs);
    await inParallel([...ledger.tokens], READS_AT_ONCE, async ([tokenId, name]) => {
      const path = `/v1/tokens/ethereum/${SUBJECT.address}/${tokenId}`;
      let last: Answer | null = null;
      const isServed = async () => {
        last = await client.send({ method: 'GET', path });
        return last.status === 200 && (JSON.parse(last.text) as { data: { name: string } }).data.name === name;
      };
      // The read is repeated, because on a slow machine a source may miss its deadline, and the response then lacks the name.
      if (!(await isReached(isServed, deadline))) this.#lose(`the token ${tokenId} (last response: ${describe(last)})`);
    });
    this.facts.push(`${ledger.tokens.size} imported tokens`);
    const { size } = ledger;
    this.facts.push(`${this.#lost} of ${size} acknowledged writes lost`);
  }

  /** Each event arrived, and all deliveries of an event have the same `webhook-id`. */
  async deliversEvents(): Promise<void> {
    const { ledger, receiver, mendedAt } = this.#platform;
    const expected = this.#fault.mayLoseWrites ? this.#lowStock : [...ledger.events, ...this.#lowStock];
    const findMissing = () => {
      const arrived = new Set(receiver.deliveries.map(({ type, data }) => keyOf(type, data)));
      return countMissing(expected, arrived, receiver.deliveries);
    };
    await isReached(() => findMissing().length === 0, mendedAt + this.#limitMs + LEASE_MS);
    const missing = findMissing();
    for (const event of missing.slice(0, LISTED_MAX))
      this.broken.push(`the event ${event.type} of ${event.id} was not delivered`);
    const bySequence = new Map<number, Set<string>>();
    for (const { sequence, webhookId } of receiver.deliveries) {
      bySequence.set(sequence, (bySequence.get(sequence) ?? new Set()).add(webhookId));
    }
    const withSeveralIds = [...bySequence.values()].filter(({ size }) => size > 1).length;
    if (withSeveralIds > 0 && !this.#fault.mayLoseWrites)
      this.broken.push(`${withSeveralIds} events were delivered with different webhook-ids`);
    const doubled = receiver.deliveries.length - bySequence.size;
    this.facts.push(
      `${expected.length - missing.length} of ${expected.length} events delivered, ${doubled} deliveries repeated`,
    );
  }

  async emptiesQueues(): Promise<void> {
    const { mendedAt } = this.#platform;
    let left: string[] = [];
    const isEmpty = async () => {
      left = await this.#findQueues();
      return left.length === 0;
    };
    if (!(await isReached(isEmpty, mendedAt + this.#limitMs + LEASE_MS)))
      this.broken.push(`queues are not empty: ${left.join(', ')}`);
    this.facts.push(`queues empty after ${((performance.now() - mendedAt) / 1_000).toFixed(1)} s`);
  }

  /** A new cheapest listing is served as the floor at once. */
  async servesFresh(): Promise<void> {
    const { client } = this.#platform;
    const body = toNdjson([toListing('1', FRESH_PRICE)]);
    const imported = await client.send({ method: 'POST', path: '/intake/v1/records', body });
    if (!imported.text.includes('"done"')) this.broken.push(`an import after the fault got ${describe(imported)}`);
    const path = `/v1/collections/${SUBJECT.slug}/floor`;
    let last: Answer | null = null;
    const isFresh = async () => {
      last = await client.send({ method: 'GET', path });
      if (last.status !== 200 || isDegraded(last)) return false;
      const { data } = JSON.parse(last.text) as { data: { askFloor: { raw: string } | null } };
      return data.askFloor?.raw === String(FRESH_PRICE);
    };
    if (!(await isReached(isFresh, performance.now() + this.#limitMs))) {
      this.broken.push(`the floor is stale: ${describe(last)}`);
    }
    this.#expectOnly(client.takeTally().unexpected, 'after the fault');
  }

  /** No process has ended during the checks. */
  keepsRunning(): void {
    for (const [index, program] of this.#platform.programs.entries()) {
      if (program.isRunning && program.pid === this.#pids[index]) continue;
      this.broken.push(`a process has ended with ${program.exitCode}: ${program.lines.slice(-LISTED_MAX).join(' ')}`);
    }
  }

  #expectOnly(unexpected: readonly Unexpected[], when: string): void {
    const { mayGet = [], mayLoseWrites } = this.#fault;
    // If a fault may lose writes, a request for a resource that a lost write created may get a 404.
    const isBroken = ({ answer: { status } }: Unexpected) =>
      !mayGet.includes(status) && !(mayLoseWrites && status === 404);
    for (const { sent, answer } of unexpected.filter(isBroken).slice(0, LISTED_MAX)) {
      this.broken.push(`${when} ${sent.method} ${sent.path} got ${describe(answer)}`);
    }
  }

  #lose(what: string): void {
    this.#lost += 1;
    if (!this.#fault.mayLoseWrites && this.#lost <= LISTED_MAX) this.broken.push(`${what} is lost`);
  }

  /** The gauges that report waiting work, and the sources that still fail. */
  async #findQueues(): Promise<string[]> {
    const waiting: string[] = [];
    for (const url of this.#platform.metricsUrls) {
      const text = await readText(url);
      if (text === null) {
        waiting.push('the metrics cannot be read');
        continue;
      }
      for (const line of text.split('\n')) {
        if (!QUEUE_GAUGES.test(line) || line.endsWith(' 0')) continue;
        if (!(this.#fault.upstreamsStayAway && UPSTREAM_BREAKER.test(line))) waiting.push(line);
      }
    }
    return waiting;
  }

  async #read<T>(path: string): Promise<T> {
    let last: Answer | null = null;
    const isServed = async () => {
      last = await this.#platform.client.send({ method: 'GET', path });
      return last.status === 200;
    };
    const isOk = await isReached(isServed, performance.now() + this.#limitMs);
    if (!isOk) throw new Error(`GET ${path}: ${describe(last)}`);
    return JSON.parse(textOf(last)) as T;
  }

  async #readAll<T>(path: string): Promise<T[]> {
    const rows: T[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = `${path.includes('?') ? '&' : '?'}limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page: Page<T> = await this.#read(`${path}${query}`);
      rows.push(...page.data);
      cursor = page.pagination.nextCursor;
    }
    return rows;
  }
}

type Page<T> = { data: T[]; pagination: { nextCursor: string | null } };
type LogEntry = { reason: string; previous: number; next: number; adjustment: number };

const QUEUE_GAUGES =
  /^mercat_(webhook_events_pending|webhook_deliveries_pending|webhook_deliveries_due|breaker_open)\b/;

const UPSTREAM_BREAKER = /^mercat_breaker_open\{.*kind="upstream"/;

const keyOf = (type: string, { id, name }: Record<string, unknown>): string =>
  type === 'product.deleted' ? `${type} ${String(id)}` : `${type} ${String(id)} ${String(name)}`;

/**
 * The expected events that did not arrive. A low-stock event does not name the adjustment that caused it, so only the number of low-stock
 * events of each product is compared.
 */
function countMissing(
  expected: readonly ExpectedEvent[],
  arrived: ReadonlySet<string>,
  deliveries: readonly { type: string; sequence: number; data: Record<string, unknown> }[],
): ExpectedEvent[] {
  const lowSequences = new Map<string, Set<number>>();
  for (const { type, sequence, data } of deliveries) {
    if (type !== 'inventory.low') continue;
    const id = String(data['productId']);
    lowSequences.set(id, (lowSequences.get(id) ?? new Set()).add(sequence));
  }
  const lowSeen = new Map<string, number>();
  return expected.filter((event) => {
    if (event.type !== 'inventory.low') return !arrived.has(keyOf(event.type, event));
    const seen = (lowSeen.get(event.id) ?? 0) + 1;
    lowSeen.set(event.id, seen);
    return seen > (lowSequences.get(event.id)?.size ?? 0);
  });
}

/** Whether a response says that a source was not read. */
function isDegraded({ text }: Answer): boolean {
  return /"stale":true|"staleSources"/.test(text);
}

const textOf = (answer: Answer | null): string => answer?.text ?? '';

function describe(answer: Answer | null): string {
  return answer === null ? 'not requested' : `${answer.status} ${answer.text.slice(0, 200)}`;
}

async function readText(url: string): Promise<string | null> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(10_000) })).text();
  } catch {
    return null;
  }
}
