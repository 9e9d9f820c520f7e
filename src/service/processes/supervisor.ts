// The supervisor starts, restarts and stops the serving processes. It opens no database and responds to no request of a client
// (docs/decisions/0021-serving-processes.md).

import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { OperatorError } from '../../platform/core/errors.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import { backoffMs } from '../../platform/resilience/backoff.ts';
import type {
  ProcessChannel,
  ProcessReport,
  ProcessStart,
  ProcessState,
  StartedProcess,
  SupervisorCalls,
} from './calls.ts';
import type { CallHandlers } from './channel.ts';
import { Channel } from './channel.ts';
import { CHECK_INTERVAL_MS, Watchdog } from './watchdog.ts';

export type SupervisorOptions = Pick<ProcessStart, 'processes' | 'tasks' | 'overrides' | 'compileCache'> & {
  /** Ends the wait for the start. The caller then stops the processes. */
  signal: AbortSignal;
  /** The program of a serving process, and its arguments. */
  program: readonly [file: string, ...args: string[]];
  log: Log;
  random: Random;
  /** The time between two checks that a process responds. */
  checkIntervalMs?: number;
};

/** The wait before a process that has ended is started again. */
const BACKOFF = { baseMs: 100, maxMs: 10_000, jitter: 0.2 };
/** If a process has served for this long before it ends, the wait before its next start is the shortest wait again. */
const STABLE_MS = 60_000;
/**
 * The service ends when its processes have ended unexpectedly this many times within ENDS_PERIOD_MS. A process that was killed because it hung is not
 * counted: what a client sends may hang a process, and must not end the others. If twice the number of processes is
 * higher than ENDS_MAX, the limit is twice the number of processes.
 */
const ENDS_MAX = 5;
const ENDS_PERIOD_MS = 60_000;
/** A process that has not ended this long after its grace period is killed, before the command itself reaches its deadline (cli/exit-deadline.ts). */
const STOP_TIMEOUT_MS = 3_600;

type Member = {
  readonly number: number;
  state: ProcessState;
  child: ChildProcess | null;
  channel: ProcessChannel | null;
  /** When the process began to serve, by `performance.now()`. Null unless the process serves. */
  servingSince: number | null;
  /** Checks that the process responds. Null unless the process serves. */
  watchdog: Watchdog | null;
  /** Whether the process was killed because it did not respond. */
  isHanging: boolean;
  restarts: number;
  /** How many times the process has ended since it last served for STABLE_MS. The wait before the next start grows with this number. */
  failures: number;
  /** The error that the process reported before it ended. */
  failure: OperatorError | null;
  timer: NodeJS.Timeout | undefined;
};

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #members: readonly Member[];
  readonly #failed = Promise.withResolvers<never>();
  /** Called when a process has started or ended. */
  #onChange: () => void = () => undefined;
  #started: StartedProcess | null = null;
  #recentEnds: number[] = [];
  #isStopping = false;
  readonly #checks: NodeJS.Timeout;
  /**
   * Kills all processes when the supervisor ends. A process that hangs would not notice the end of the supervisor, and would keep the port.
   */
  readonly #killAll = (): void => {
    for (const { child } of this.#members) child?.kill('SIGKILL');
  };

  private constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#members = Array.from({ length: options.processes }, (_, index) => ({
      number: index + 1,
      state: 'starting' as const,
      child: null,
      channel: null,
      servingSince: null,
      watchdog: null,
      isHanging: false,
      restarts: 0,
      failures: 0,
      failure: null,
      timer: undefined,
    }));
    // If nobody waits for `failed` yet, the rejection must not end this process.
    this.#failed.promise.catch(() => undefined);
    this.#checks = setInterval(() => this.#killHanging(), options.checkIntervalMs ?? CHECK_INTERVAL_MS);
    process.on('exit', this.#killAll);
  }

  /**
   * Starts the first process, which brings the databases up to date, and then the others. Rejects with OperatorError if the first process
   * cannot start. Resolves early when the signal aborts.
   */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    const supervisor = new Supervisor(options);
    const { signal } = options;
    try {
      if (!signal.aborted) await Promise.race([supervisor.#startInOrder(), once(signal, 'abort')]);
      return supervisor;
    } catch (error) {
      await supervisor.stop(0);
      throw error;
    }
  }

  /** What the first process has reported. */
  get started(): StartedProcess {
    if (!this.#started) throw new TypeError('no process has started');
    return this.#started;
  }

  /** Rejects with OperatorError when the service cannot go on. Never resolves. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  reportOnProcesses(): ProcessReport[] {
    return this.#members.map(toReport);
  }

  /** Stops all processes. They continue to serve for `graceMs`. Resolves when all have ended. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#checks);
    const ended = this.#members.map(async (member) => {
      clearTimeout(member.timer);
      const { child, channel } = member;
      if (child?.pid === undefined) return;
      member.state = 'stopping';
      const exited = new Promise((resolve) => child.once('exit', resolve));
      // If the call fails, the process has ended already, or the timer below kills it.
      channel?.call('stop', { graceMs }).catch(() => undefined);
      const kill = setTimeout(() => child.kill('SIGKILL'), graceMs + STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(kill);
    });
    await Promise.all(ended);
    process.off('exit', this.#killAll);
  }

  async #startInOrder(): Promise<void> {
    const [first, ...others] = this.#members;
    if (first) await this.#startAll([first], { holdsPort: true });
    await this.#startAll(others, { holdsPort: false });
  }

  /** Resolves when all these processes serve. If a process ends earlier, it is started again. Rejects when the service cannot go on (`failed`). */
  async #startAll(members: readonly Member[], { holdsPort }: { holdsPort: boolean }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onChange = () => {
      if (members.every(({ state }) => state === 'serving')) resolve();
    };
    for (const member of members) this.#fork(member, holdsPort);
    this.#onChange();
    await Promise.race([promise, this.failed]);
  }

  #fork(member: Member, holdsPort: boolean): void {
    if (this.#isStopping) return;
    const [file, ...args] = this.#options.program;
    member.state = 'starting';
    member.failure = null;
    member.isHanging = false;
    let child: ChildProcess;
    try {
      child = fork(file, args);
    } catch (error) {
      return this.#noteFailedFork(member, error);
    }
    member.child = child;
    const channel: ProcessChannel = new Channel(
      {
        // If the process has just ended, `send` fails, and the callback ignores the error.
        send: (message) => void child.send(message, undefined, undefined, () => undefined),
        onMessage: (receive) => void child.on('message', receive),
      },
      this.#handlersFor(member, holdsPort),
    );
    member.channel = channel;
    child.on('error', (error) => {
      // A process that was not created emits no `exit`.
      if (child.pid !== undefined || member.child !== child) return;
      channel.close();
      this.#noteFailedFork(member, error);
    });
    child.once('exit', (code, signal) => {
      channel.close();
      this.#noteEnd(member, { code, signal });
    });
  }

  #handlersFor(member: Member, holdsPort: boolean): CallHandlers<SupervisorCalls> {
    const { number } = member;
    const { processes, tasks, overrides, compileCache } = this.#options;
    return {
      join: () => ({ number, processes, tasks, overrides, compileCache, holdsPort }),
      started: (started) => {
        this.#started ??= started;
        member.state = this.#isStopping ? 'stopping' : 'serving';
        member.servingSince = performance.now();
        member.watchdog = new Watchdog(async () => member.channel?.call('ping', null));
        this.#onChange();
        return null;
      },
      failed: ({ message, exitCode }) => {
        member.failure = new OperatorError(message, { exitCode });
        return null;
      },
      nudgeWebhooks: () => {
        this.#members[0]?.channel?.call('nudgeWebhooks', null).catch(() => undefined);
        return null;
      },
      readProcesses: () => this.reportOnProcesses(),
    };
  }

  /** Kills each process that hangs. `#noteEnd` then starts the process again. */
  #killHanging(): void {
    for (const member of this.#members) {
      if (!member.watchdog?.check()) continue;
      this.#options.log.error('a serving process does not respond, and is killed', { servingProcess: member.number });
      member.isHanging = true;
      member.child?.kill('SIGKILL');
    }
  }

  /**
   * Tries again to start a process that the system did not create, for example for lack of memory. While another process serves, the number
   * of attempts has no limit.
   */
  #noteFailedFork(member: Member, error: unknown): void {
    this.#options.log.error('a serving process cannot be created', { servingProcess: member.number, error });
    if (this.#members.some(({ state }) => state === 'serving'))
      member.failure = new OperatorError('the system does not create a process');
    this.#noteEnd(member, { code: null, signal: null });
  }

  #noteEnd(member: Member, end: { code: number | null; signal: string | null }): void {
    const { log, random } = this.#options;
    const { failure, servingSince } = member;
    member.child = null;
    member.channel = null;
    member.servingSince = null;
    member.watchdog = null;
    if (this.#isStopping) return;
    member.state = 'restarting';
    const now = performance.now();
    member.failures = servingSince !== null && now - servingSince >= STABLE_MS ? 1 : member.failures + 1;
    member.restarts += 1;
    const inMs = Math.round(backoffMs(member.failures, BACKOFF, random));
    const isServing = this.#members.some(({ state }) => state === 'serving');
    if (failure && !isServing) return this.#failed.reject(failure);
    if (failure) {
      // The other processes go on, for example with cached responses while the database is down.
      const reason = failure.message;
      log.warn('a serving process cannot start, and will be started again', {
        servingProcess: member.number,
        reason,
        inMs,
      });
    } else {
      if (!member.isHanging) this.#recentEnds.push(now);
      this.#recentEnds = this.#recentEnds.filter((at) => now - at < ENDS_PERIOD_MS);
      const endsMax = Math.max(ENDS_MAX, 2 * this.#members.length);
      if (this.#recentEnds.length >= endsMax) {
        const reason = end.signal ?? (end.code === null ? null : `exit code ${end.code}`);
        const last = reason === null ? 'the last one could not be started' : `the last one with ${reason}`;
        const message = `serving processes have ended or failed to start ${endsMax} times within a minute (${last}), so the service ends`;
        return this.#failed.reject(new OperatorError(message));
      }
      log.error('a serving process has ended, and is started again', { servingProcess: member.number, ...end, inMs });
    }
    member.timer = setTimeout(() => this.#fork(member, false), inMs);
  }
}

function toReport({ number, state, restarts, servingSince }: Member): ProcessReport {
  const uptimeSeconds = servingSince === null ? null : Math.floor((performance.now() - servingSince) / 1_000);
  return { process: number, state, restarts, uptimeSeconds };
}
