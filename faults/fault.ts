// A fault of the fault matrix: what is broken on purpose, and what Mercat promises to its callers meanwhile and afterwards.

import type { Platform, PlatformOptions } from './platform.ts';

export type FaultEngine = 'embedded' | 'postgresql';

/** What a fault needs beside PostgreSQL. Where it is missing, the fault is skipped and counted as skipped. */
export type Need = 'redis' | 'root' | 'haproxy' | 'faketime' | 'git';

export type Fault = {
  /** The name for `--only`. */
  name: string;
  /** What callers are promised while the fault lasts. The promises that follow every fault are in checks.ts. */
  promise: string;
  engines: readonly FaultEngine[];
  needs?: readonly Need[];
  /** Statuses, beside success, 502, 503 and 409, that requests of the load may get. `no response`: the service itself is ended. */
  mayGet?: readonly (number | 'no response')[];
  /** Set when acknowledged writes may be lost. They are then counted, and the other promises still hold. */
  mayLoseWrites?: boolean;
  /**
   * Starts a platform, breaks it under load, mends it, and returns what was seen. A promise that is not kept is thrown as an
   * AssertionError. The checks that follow every fault run after this function.
   */
  run(context: FaultContext): Promise<string[]>;
};

export type FaultContext = {
  engine: FaultEngine;
  /** Starts databases, a service, a worker, a webhook receiver and the load. To be called once. */
  start(options?: PlatformOptions): Promise<Platform>;
  /** Registers what has to be undone when the fault has ended, the last one first. */
  onEnd(undo: () => Promise<unknown> | void): void;
};
