// Listens for notifications of PostgreSQL on a connection of its own. A notification is a hint that there is something to read. It may be
// lost or never come, for example behind a pooler, so its receiver must also poll.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import { spreadMs } from '../resilience/backoff.ts';
import type { Database } from './port.ts';

export type NotificationOptions = {
  /** The URL of the database. */
  url: string;
  /** The same database. A test notification is sent through it, on another connection. */
  db: Pick<Database, 'within'>;
  /**
   * By channel, the function that is called with the payload of each notification. The name of a channel must be lower-case and need no
   * quotes.
   */
  channels: Readonly<Record<string, (payload: string) => void>>;
  /** Called when a connection begins to listen. Notifications that were sent earlier may be lost. */
  onListen: () => void;
  log: Log;
  random: Random;
};

const RETRY_MS = 1_000;
const RETRY_JITTER = 0.5;
const CONNECT_TIMEOUT_MS = 5_000;
/** The time between two checks that the connection responds and receives notifications. */
const CHECK_PERIOD_MS = 30_000;
/** The channel of test notifications. Their payload is the id of the process that sends them to itself. */
const TEST_CHANNEL = 'mercat_self_test';
/** A test notification that has not arrived after this time counts as lost. */
const ARRIVAL_MAX_MS = 5_000;
/** `close` waits this long for the connection to end, then cuts it. */
const CLOSE_WAIT_MS = 500;

export class Notifications {
  readonly #options: NotificationOptions;
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | undefined;
  readonly #process = randomUUID();
  #isListening = false;
  /** Called when a test notification of this process arrives. */
  #onTestArrived: () => void = () => undefined;
  /** Whether the latest failure was logged. */
  #isFailureLogged = false;
  #isClosed = false;

  constructor(options: NotificationOptions) {
    this.#options = options;
  }

  /** Whether notifications are received: the latest test notification of this process has arrived on the present connection. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** Connects, and connects again after each failure. Never rejects. */
  start(): void {
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    if (!client) return;
    const cut = setTimeout(() => client.connection.stream.destroy(), CLOSE_WAIT_MS);
    await client.end().catch(() => undefined);
    clearTimeout(cut);
  }

  async #connect(): Promise<void> {
    const { url, channels, onListen } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'mercat',
    });
    this.#client = client;
    client.on('error', (error) => this.#retry(client, error));
    client.on('end', () => this.#retry(client, new Error('the connection has ended')));
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel !== TEST_CHANNEL) channels[channel]?.(payload);
      else if (payload === this.#process && this.#client === client) this.#onTestArrived();
    });
    try {
      await client.connect();
      await client.query([TEST_CHANNEL, ...Object.keys(channels)].map((channel) => `listen ${channel}`).join('; '));
      if (this.#client !== client) return;
      onListen();
      await this.#testArrival(client);
    } catch (error) {
      this.#retry(client, error);
    }
  }

  /**
   * Sends a notification to this process, and waits for it. Behind a pooler in transaction mode, `listen` succeeds but the notification does
   * not arrive. Schedules the next check.
   */
  async #testArrival(client: pg.Client): Promise<void> {
    const { promise: arrival, resolve } = Promise.withResolvers<boolean>();
    this.#onTestArrived = () => resolve(true);
    const sql = 'select pg_notify($1, $2)';
    const isSent = await this.#options.db
      .within(ARRIVAL_MAX_MS)
      .query(sql, [TEST_CHANNEL, this.#process])
      .then(
        () => true,
        () => false,
      );
    if (isSent) {
      const timer = setTimeout(() => resolve(false), ARRIVAL_MAX_MS).unref();
      const hasArrived = await arrival;
      clearTimeout(timer);
      if (this.#client !== client) return;
      if (!hasArrived && this.#isListening) {
        // For example, a failover has happened, and the URL now leads to another server.
        this.#retry(client, new Error('a test notification did not arrive'));
        return;
      }
      this.#noteTest(hasArrived);
    }
    if (this.#client !== client) return;
    this.#timer = setTimeout(() => void this.#check(client), CHECK_PERIOD_MS);
    this.#timer.unref();
  }

  async #check(client: pg.Client): Promise<void> {
    try {
      await client.query('select 1');
    } catch (error) {
      this.#retry(client, error);
      return;
    }
    await this.#testArrival(client);
  }

  #noteTest(hasArrived: boolean): void {
    const { log } = this.#options;
    if (hasArrived && this.#isFailureLogged) log.info('notifications of the database are received again');
    // This is not a failure: behind a pooler in transaction mode, notifications never arrive.
    if (!hasArrived && !this.#isFailureLogged)
      log.info('notifications of the database do not arrive, so changes of other processes are noticed by polling');
    this.#isListening = hasArrived;
    this.#isFailureLogged = !hasArrived;
  }

  /** Connects again after a wait. Of several failures in a row, only the first is logged. */
  #retry(client: pg.Client, error: unknown): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = null;
    this.#isListening = false;
    clearTimeout(this.#timer);
    client.end().catch(() => undefined);
    const { log, random } = this.#options;
    if (!this.#isFailureLogged) log.warn('notifications of the database are not received', { error });
    this.#isFailureLogged = true;
    this.#timer = setTimeout(() => void this.#connect(), spreadMs(RETRY_MS, RETRY_JITTER, random));
    this.#timer.unref();
  }
}
