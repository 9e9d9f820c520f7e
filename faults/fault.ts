// Defines a fault: what is broken on purpose, and what Mercat promises to its callers meanwhile and afterwards.

import type { FaultEngine, Platform, PlatformOptions } from './platform.ts';
import type { Program } from './program.ts';

/** What a fault needs in addition to PostgreSQL. If a machine lacks something that a fault needs, the fault is skipped and counted as skipped. */
export type Need = 'redis' | 'root' | 'haproxy' | 'faketime' | 'git';

export type Fault = {
  /** The name on the command line. */
  name: string;
  /** The promise to callers during the fault. The promises after every fault are in checks.ts. */
  promise: string;
  engines: readonly FaultEngine[];
  needs?: readonly Need[];
  /**
   * What requests of the load may get in addition to success, 502, 503 and 409. `no response` is for a fault that ends the service itself.
   */
  mayGet?: readonly (number | 'no response')[];
  /** A run that takes longer than this counts as failed. Default: 30 minutes. */
  limitMs?: number;
  /** Whether breakers of upstreams may be open after the fault, because the upstreams are still away. */
  upstreamsStayAway?: boolean;
  /** Whether acknowledged writes may be lost. They are then counted, and the other promises still hold. */
  mayLoseWrites?: boolean;
  /**
   * Starts a platform, breaks it under load, mends it, and returns what was seen. A broken promise is thrown as an AssertionError. The
   * caller of `run` then runs the checks of checks.ts.
   */
  run(context: FaultContext): Promise<string[]>;
};

export type FaultContext = {
  engine: FaultEngine;
  /**
   * Starts databases, a service, a worker, a webhook receiver and the load. Must be called at most once. Without a call, the checks of
   * checks.ts are not run.
   */
  start(options?: PlatformOptions): Promise<Platform>;
  /** A command that uses the databases of the platform. Without a platform, `settings` name the databases. The command is not started yet. */
  newCommand(platform: Platform | null, args: readonly string[], settings?: Record<string, string>): Program;
  /** Registers what has to be undone after the fault. What was registered last is undone first. */
  onEnd(undo: () => Promise<unknown> | void): void;
};
