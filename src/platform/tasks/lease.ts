// Keeps the lease of a running task: renews it in time, and stores the progress of the run with each renewal.

import { updateTaskLease } from './queries/tasks.ts';
import type { Database } from '../database/port.ts';
import type { Log } from '../core/log.ts';
import type { TaskProgress } from './task.ts';

/** `holder` identifies the run. */
export type TaskLease = { name: string; holder: string; leaseMs: number };

/** How many renewals are attempted within the length of a lease. With three, the lease survives two failed renewals. */
const RENEWALS = 3;
const PROGRESS_PERIOD_MS = 1_000;

export class LeaseKeeper {
  readonly #lease: TaskLease;
  readonly #main: Database;
  readonly #log: Log;
  readonly #periodMs: number;
  readonly #lost = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #progress: TaskProgress | null = null;
  #hasNewProgress = false;
  /** When this process sent the latest statement that claimed or renewed the lease (`performance.now()`). */
  #renewedAt: number;
  #renewing: Promise<void> | null = null;

  /** `claimedAt`: when this process sent the statement that claimed the lease (`performance.now()`). */
  constructor(lease: TaskLease, { main, log, claimedAt }: { main: Database; log: Log; claimedAt: number }) {
    this.#lease = lease;
    this.#renewedAt = claimedAt;
    this.#main = main;
    this.#log = log;
    this.#periodMs = lease.leaseMs / RENEWALS;
  }

  /** Aborts when another process holds the lease, or may hold it because this process could not renew it in time. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), Math.min(PROGRESS_PERIOD_MS, this.#periodMs));
  }

  /** Stores the progress with the next renewal, and makes that renewal happen within a second. */
  setProgress(progress: TaskProgress): void {
    this.#progress = progress;
    this.#hasNewProgress = true;
  }

  /** Stops renewing the lease, and waits for a renewal that is in progress. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#renewing;
  }

  #tick(): void {
    // The expiry is also checked while a renewal is pending, because a renewal may hang for a third of the lease before it fails.
    this.#loseIfExpired();
    const isDue = this.#hasNewProgress || performance.now() - this.#renewedAt >= this.#periodMs;
    if (!this.#renewing && isDue) this.#renewing = this.#renew();
  }

  async #renew(): Promise<void> {
    const sentAt = performance.now();
    this.#hasNewProgress = false;
    try {
      const statements = this.#main.within(this.#periodMs);
      if (await updateTaskLease(statements, { ...this.#lease, progress: this.#progress })) this.#renewedAt = sentAt;
      else this.#lose();
    } catch (error) {
      this.#log.debug('a lease could not be renewed', { task: this.#lease.name, error });
      this.#loseIfExpired();
    }
    this.#renewing = null;
  }

  /** When the lease has run out, another process may have started the task. */
  #loseIfExpired(): void {
    if (performance.now() - this.#renewedAt > this.#lease.leaseMs) this.#lose();
  }

  #lose(): void {
    this.#lost.abort(new Error('the lease of the task is lost: another process may run the task'));
  }
}
