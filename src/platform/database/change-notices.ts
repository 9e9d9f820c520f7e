// Reports committed changes of collections to all processes that use the same primary database. Within milliseconds, these processes drop
// the cached responses of the changed collections. A notice may be lost, for example behind a pooler, so a response is cached for at most
// a second even if no notice arrives. The embedded engine has only one process and needs no notices.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Change } from '../core/collection-versions.ts';
import type { Log } from '../core/log.ts';
import type { Database } from './port.ts';

/** The channel on which PostgreSQL sends the notices to all processes. */
export const CHANGES_CHANNEL = 'mercat_changes';

/** The pause of a process between two notices. Changes that are reported during the pause share the next notice. */
const GAP_MS = 10;
const TIMEOUT_MS = 2_000;
/** PostgreSQL accepts payloads of less than 8,000 bytes. A longer list of collections becomes a notice about all collections. */
const PAYLOAD_BYTES_MAX = 7_900;
const COLLECTIONS_MAX = 150;

/** `from`: the process that has changed the collections. `ids` is null if all collections may have changed. */
type Notice = { from: string; ids: readonly string[] | null; rates: boolean };

/** The changes that are not sent yet. */
type Pending = { ids: Set<string> | null; rates: boolean };

export class ChangeNotices {
  readonly #main: Database;
  readonly #log: Log;
  readonly #process = randomUUID();
  #pending: Pending | null = null;
  #sending: Promise<void> | null = null;
  #isClosed = false;

  constructor({ main, log }: { main: Database; log: Log }) {
    this.#main = main;
    this.#log = log;
  }

  /** Sends a committed change to the other processes soon. Never throws. */
  send({ collectionIds, kinds }: Change): void {
    const rates = kinds.has('rate');
    if (this.#main.engine === 'embedded' || this.#isClosed || (!rates && collectionIds.size === 0)) return;
    const pending = (this.#pending ??= { ids: new Set(), rates: false });
    pending.rates ||= rates;
    for (const id of collectionIds) pending.ids?.add(id);
    if (pending.ids && pending.ids.size > COLLECTIONS_MAX) pending.ids = null;
    this.#sending ??= this.#sendPending();
  }

  /** Waits until the changes that were reported before the call are sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sending;
  }

  /**
   * Returns the change that a notice of another process reports. `everything`: any collection may have changed. Null: this process has sent
   * the notice.
   */
  read(payload: string): Change | 'everything' | null {
    const notice = parseNotice(payload);
    if (notice === null) return 'everything';
    if (notice.from === this.#process) return null;
    if (notice.ids === null) return 'everything';
    return { collectionIds: new Set(notice.ids), kinds: new Set(notice.rates ? ['rate'] : []) };
  }

  async #sendPending(): Promise<void> {
    while (this.#pending) {
      const payload = toPayload(this.#process, this.#pending);
      this.#pending = null;
      // The commit does not wait for the disk, because a notice need not survive a crash.
      const sql = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;
      await this.#main
        .within(TIMEOUT_MS)
        .query(sql, [CHANGES_CHANNEL, payload])
        .catch((error: unknown) => this.#log.debug('a change could not be sent to the other processes', { error }));
      if (!this.#isClosed) await delay(GAP_MS);
    }
    this.#sending = null;
  }
}

function toPayload(from: string, { ids, rates }: Pending): string {
  const notice: Notice = { from, ids: ids && [...ids], rates };
  const payload = JSON.stringify(notice);
  if (Buffer.byteLength(payload) <= PAYLOAD_BYTES_MAX) return payload;
  return JSON.stringify({ ...notice, ids: null } satisfies Notice);
}

/** Null if the payload is not a notice of this version. */
function parseNotice(payload: string): Notice | null {
  try {
    const { from, ids, rates } = JSON.parse(payload) as Partial<Record<keyof Notice, unknown>>;
    const areIds = ids === null || (Array.isArray(ids) && ids.every((id) => typeof id === 'string'));
    return typeof from === 'string' && areIds ? { from, ids, rates: rates === true } : null;
  } catch {
    return null;
  }
}
