// The calls between the supervisor and the serving processes.

import type { Channel } from './channel.ts';

/** What a serving process must know to start. */
export type ProcessStart = {
  /** 1 is the first process, which runs the tasks, sends webhooks and serves the local socket. */
  number: number;
  processes: number;
  /** Whether this service runs tasks. */
  tasks: boolean;
  /** Whether the process holds the port during its start, because no other process serves. */
  holdsPort: boolean;
  /** The directory for compiled code. Null: compiled code is not stored. */
  compileCache: string | null;
  /** Values from the command line, which replace the settings of the same names. */
  overrides: Readonly<Record<string, string>>;
};

/** What the command prints about a service that has started. */
export type StartedProcess = { url: string; hasConsole: boolean };

/** `restarting`: the process has ended, and will be started again. */
export type ProcessState = 'starting' | 'serving' | 'restarting' | 'stopping';

/** A serving process, as `/status` shows it. */
export type ProcessReport = {
  process: number;
  state: ProcessState;
  /** How often the process was started again after an unexpected end. */
  restarts: number;
  uptimeSeconds: number | null;
};

/** The calls that a serving process makes to the supervisor. */
export type SupervisorCalls = {
  join: { input: null; output: ProcessStart };
  started: { input: StartedProcess; output: null };
  /** The process cannot start, for a reason that the operator can correct. */
  failed: { input: { message: string; exitCode: 1 | 2 }; output: null };
  nudgeWebhooks: { input: null; output: null };
  readProcesses: { input: null; output: ProcessReport[] };
};

/** The calls that the supervisor makes to a serving process. */
export type ProcessCalls = {
  /** Checks that the process does not hang. A process that hangs does not reply in time. */
  ping: { input: null; output: null };
  nudgeWebhooks: { input: null; output: null };
  /** Continues to serve for `graceMs`, then ends. */
  stop: { input: { graceMs: number }; output: null };
};

/** The supervisor's end of the channel to a serving process. */
export type ProcessChannel = Channel<ProcessCalls, SupervisorCalls>;
/** A serving process's end of the channel to the supervisor. */
export type SupervisorChannel = Channel<SupervisorCalls, ProcessCalls>;
