// The calls between the supervisor and the serving processes.

import type { PlaceLimits, PlaceResult } from '../explore/stream/places.ts';
import type { StreamCounts } from '../explore/stream/status.ts';
import type { ProcessMetrics } from '../metrics/metrics.ts';
import type { Channel } from './channel.ts';
import type { WindowPart, WindowRequest } from './granted-windows.ts';

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

/** `stream` is null if the process has not responded in time. */
export type ProcessAndStream = ProcessReport & { stream: StreamCounts | null };

/** The metrics of a serving process. `restarts` distinguishes it from earlier processes with the same number. */
export type MetricsOfProcess = { process: number; restarts: number; metrics: ProcessMetrics };

/** The calls that a serving process makes to the supervisor. */
export type SupervisorCalls = {
  join: { input: null; output: ProcessStart };
  started: { input: StartedProcess; output: null };
  /** The process cannot start, for a reason that the operator can correct. */
  failed: { input: { message: string; exitCode: 1 | 2 }; output: null };
  takeWindowPart: { input: WindowRequest; output: WindowPart };
  enterStream: { input: { client: string; limits: PlaceLimits }; output: PlaceResult };
  leaveStream: { input: string; output: null };
  nudgeWebhooks: { input: null; output: null };
  readProcesses: { input: null; output: ProcessAndStream[] };
};

/** The calls that the supervisor makes to a serving process. */
export type ProcessCalls = {
  giveBack: { input: { id: number; key: string }; output: number };
  /** Checks that the process does not hang. A process that hangs does not reply in time. */
  ping: { input: null; output: null };
  nudgeWebhooks: { input: null; output: null };
  readStream: { input: null; output: StreamCounts };
  /** If `isComplete`, the output includes the metrics that are the same in all processes. The output is null while the process has no metrics yet. */
  readMetrics: { input: { isComplete: boolean }; output: ProcessMetrics | null };
  /** Continues to serve for `graceMs`, then ends. */
  stop: { input: { graceMs: number }; output: null };
};

/** The supervisor's end of the channel to a serving process. */
export type ProcessChannel = Channel<ProcessCalls, SupervisorCalls>;
/** A serving process's end of the channel to the supervisor. */
export type SupervisorChannel = Channel<SupervisorCalls, ProcessCalls>;
