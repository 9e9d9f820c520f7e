// Listens for notifications of PostgreSQL on a connection of its own. A notification is a hint that there is something to read. It may be
// lost or never come, for example behind a pooler, so its receiver must also poll.

import pg from 'pg';
import type { Log } from '../core/log.ts';
import type { Random } from '../core/random.ts';
import { spreadMs } from '../resilience/backoff.ts';

export type NotificationOptions = {
  /** The URL of the database. */
  url: string;
  /** What is called with the payload of each notification, by channel: a lower-case name without quotes. */
  channels: Readonly<Record<string, (payload: string) => void>>;
  /** Called when the connection begins to listen, because earlier notifications are then lost. */
  onListen: () => void;
  log: Log;
  random: Random;
};

const RETRY_MS = 1_000;
const RETRY_JITTER = 0.5;
const CONNECT_TIMEOUT_MS = 5_000;
/** A connection that hangs is noticed at the next of these checks. */
const CHECK_PERIOD_MS = 30_000;
/** `close` waits this long for the connection to end, then cuts it. */
const CLOSE_WAIT_MS = 500;

export class Notifications {
  readonly #options: NotificationOptions;
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isListening = false;
  /** Whether the latest failure was logged. */
  #isFailureLogged = false;
  #isClosed = false;

  constructor(options: NotificationOptions) {
    this.#options = options;
  }

  /** Whether notifications are received at present. */
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
    const { url, channels, onListen, log } = this.#options;
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
    client.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload));
    try {
      await client.connect();
      await client.query(
        Object.keys(channels)
          .map((channel) => `listen ${channel}`)
          .join('; '),
      );
      if (this.#client !== client) return;
      this.#isListening = true;
      if (this.#isFailureLogged) log.info('notifications of the database are received again');
      this.#isFailureLogged = false;
      onListen();
      this.#scheduleCheck(client);
    } catch (error) {
      this.#retry(client, error);
    }
  }

  #scheduleCheck(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      client.query('select 1').then(
        () => {
          if (this.#client === client) this.#scheduleCheck(client);
        },
        (error: unknown) => this.#retry(client, error),
      );
    }, CHECK_PERIOD_MS);
    this.#timer.unref();
  }

  /** Only the first of several failures is logged. */
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
