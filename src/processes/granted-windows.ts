// Keeps the rate limit windows of all serving processes in the supervisor. A process receives a part of a window's requests, and counts
// requests against this part by itself. When the supervisor has no requests of the window left, it takes back the requests that other
// processes have not used. So all processes together let exactly `limit` requests pass, with one exception. When a process ends
// abnormally, the supervisor does not know how many requests the process had counted. The complete part of this process can then be used
// again: a failure of the service must not cause rejections of clients.

import { WINDOW_MS } from '../http/rate-limit.ts';
import { WindowTable } from '../http/window-table.ts';
import { isDoneWithin } from '../resilience/deadline.ts';

/** `key`: the bucket and the client. `at`: the time by the clock of the process. The published end of a new window is computed from it. */
export type WindowRequest = { key: string; limit: number; at: number };

/**
 * A part of a window. `requests`: how many requests the process may let pass. Zero means that no requests are left until the window ends.
 * `leftMs`: the time until the window ends.
 */
export type WindowPart = { window: number; requests: number; resetAt: number; leftMs: number };

/** Two processes compute the end of a window by their own clocks. The two results differ by less than this, unless a clock was set. */
const ROUNDING_MS = 1_000;

/**
 * The share of the remaining requests that a process gets while no other process has requested a part. The rest is kept for another process, which then
 * gets its first part without a recall.
 */
const SHARE_OF_ONLY_USER = 0.75;

/**
 * `left`: the requests that were given to no process. `users`: the processes that have requested a part. `granted`: the requests that each process
 * has received since the last recall, some of which it may not have used.
 */
type Window<Process> = {
  id: number;
  left: number;
  endsAt: number;
  resetAt: number;
  users: Set<Process>;
  granted: Map<Process, number>;
  recalling: Promise<void> | null;
};

export type GrantedWindowsOptions<Process> = {
  /** A clock that is never set back. */
  monotonic: () => number;
  /** The number of serving processes. */
  processes: number;
  /** Takes the unused requests of a window back from the process. Returns their number. Rejects if the process has ended. */
  recall: (process: Process, window: { id: number; key: string }) => Promise<number>;
  /** How long a caller waits for a process that does not respond to a recall. */
  recallTimeoutMs: number;
};

/** `Process` identifies a process. A process that was started again has a new identity, because it has no part of a window. */
export class GrantedWindows<Process> {
  readonly #options: GrantedWindowsOptions<Process>;
  readonly #windows: WindowTable<Window<Process>>;
  #lastId = 0;

  constructor(options: GrantedWindowsOptions<Process>) {
    this.#options = options;
    this.#windows = new WindowTable(options.monotonic());
  }

  /** Gives a part of the window to a process whose earlier part is used up. */
  async take(process: Process, { key, limit, at }: WindowRequest): Promise<WindowPart> {
    for (;;) {
      const now = this.#options.monotonic();
      const window = this.#windows.find(key, now) ?? this.#open({ key, limit, at }, now);
      const leftMs = window.endsAt - now;
      if (Math.abs(at + leftMs - window.resetAt) > ROUNDING_MS) window.resetAt = Math.round(at + leftMs);
      if (window.left > 0 || (window.recalling === null && window.granted.size === 0)) {
        const requests = this.#grant(window, process);
        return { window: window.id, requests, resetAt: window.resetAt, leftMs };
      }
      await (window.recalling ??= this.#recall(window, key));
    }
  }

  /**
   * The fewer requests are left, the smaller is the part, so that few requests have to be taken back. Most clients keep their connections, so one
   * process serves all their requests. Until another process requests a part, this process gets larger parts, and sends fewer messages.
   */
  #grant(window: Window<Process>, process: Process): number {
    if (window.left === 0) return 0;
    window.users.add(process);
    const share = window.users.size === 1 ? SHARE_OF_ONLY_USER : 1 / this.#options.processes;
    const requests = Math.max(1, Math.floor(window.left * share));
    window.left -= requests;
    window.granted.set(process, (window.granted.get(process) ?? 0) + requests);
    return requests;
  }

  /**
   * If a process has ended, its complete part can be used again. A process that does not respond in time counts as having used its complete part, but
   * if it responds or ends later, its unused requests can be used again.
   */
  async #recall(window: Window<Process>, key: string): Promise<void> {
    const granted = [...window.granted];
    window.granted.clear();
    const recalled = granted.map(async ([process, requests]) => {
      const unused = await this.#options.recall(process, { id: window.id, key }).catch(() => requests);
      window.left += unused;
    });
    await isDoneWithin(Promise.all(recalled), this.#options.recallTimeoutMs);
    window.recalling = null;
  }

  #open({ key, limit, at }: WindowRequest, now: number): Window<Process> {
    this.#lastId += 1;
    const window: Window<Process> = {
      id: this.#lastId,
      left: limit,
      endsAt: now + WINDOW_MS,
      resetAt: Math.round(at + WINDOW_MS),
      users: new Set(),
      granted: new Map(),
      recalling: null,
    };
    return this.#windows.add(key, window, now);
  }
}
