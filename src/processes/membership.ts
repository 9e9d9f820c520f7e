// Connects a serving process with its supervisor. Through the supervisor, the process counts requests and stream connections together with the
// other processes, and reads their state.

import type { PlaceLimits, StreamPlaces } from '../explore/stream/places.ts';
import type { StreamCounts } from '../explore/stream/status.ts';
import { sumStreamCounts } from '../explore/stream/status.ts';
import type { RateLimitClocks, RateLimiter } from '../http/rate-limit.ts';
import type { StatusProvider } from '../core/status.ts';
import type { ProcessMetrics } from '../metrics/metrics.ts';
import type { CallHandlers, Link } from './channel.ts';
import { Channel } from './channel.ts';
import type { ProcessCalls, ProcessReport, ProcessStart, StartedProcess, SupervisorChannel } from './calls.ts';
import { GrantedRateLimiter } from './granted-rate-limiter.ts';

/** The functions of this process that other processes call through the supervisor. The service sets them when it starts. */
export type OwnParts = {
  streamCounts: () => StreamCounts;
  nudgeWebhooks: () => void;
  readMetrics: ((isComplete: boolean) => Promise<ProcessMetrics>) | null;
};

/** The state of this process that the handlers of incoming calls use. */
type OwnState = { limiters: GrantedRateLimiter<string>[]; parts: { current: OwnParts | null } };

export class Membership {
  readonly start: ProcessStart;
  readonly #channel: SupervisorChannel;
  readonly #limiters: GrantedRateLimiter<string>[];
  readonly #parts: { current: OwnParts | null };

  private constructor(start: ProcessStart, channel: SupervisorChannel, own: OwnState) {
    this.start = start;
    this.#channel = channel;
    this.#limiters = own.limiters;
    this.#parts = own.parts;
  }

  /** Joins the service. `onStop` is called when the supervisor stops this process. */
  static async join(link: Link, onStop: (graceMs: number) => void): Promise<Membership> {
    const limiters: GrantedRateLimiter<string>[] = [];
    const parts: OwnState['parts'] = { current: null };
    const handlers: CallHandlers<ProcessCalls> = {
      giveBack: ({ id, key }) => limiters.reduce((sum, limiter) => sum + limiter.giveBack(key, id), 0),
      ping: () => null,
      nudgeWebhooks: () => {
        parts.current?.nudgeWebhooks();
        return null;
      },
      readStream: () => sumStreamCounts(parts.current ? [parts.current.streamCounts()] : []),
      readMetrics: async ({ isComplete }) => (await parts.current?.readMetrics?.(isComplete)) ?? null,
      stop: ({ graceMs }) => {
        onStop(graceMs);
        return null;
      },
    };
    const channel: SupervisorChannel = new Channel(link, handlers);
    return new Membership(await channel.call('join', null), channel, { limiters, parts });
  }

  /** Whether this process runs the tasks, sends webhooks and serves the local socket. */
  get isFirst(): boolean {
    return this.start.number === 1;
  }

  setParts(parts: OwnParts): void {
    this.#parts.current = parts;
  }

  /** Tells the supervisor that this process serves requests. */
  async reportStarted(started: StartedProcess): Promise<void> {
    await this.#channel.call('started', started);
  }

  /** Tells the supervisor why this process cannot start. */
  async reportFailed(failure: { message: string; exitCode: 1 | 2 }): Promise<void> {
    await this.#channel.call('failed', failure);
  }

  /** Creates a limiter that counts requests together with the other processes. Bucket names must differ between limiters. */
  createLimiter<B extends string>(limits: Record<B, number>, clocks: RateLimitClocks): RateLimiter<B> {
    const limiter = new GrantedRateLimiter(limits, clocks, (request) => this.#channel.call('takeWindowPart', request));
    this.#limiters.push(limiter);
    return limiter;
  }

  createPlaces(limits: PlaceLimits): StreamPlaces {
    return {
      enter: (client) => this.#channel.call('enterStream', { client, limits }),
      leave: (client) => void this.#channel.call('leaveStream', client).catch(ignoreEnd),
    };
  }

  /** Makes the process that sends webhooks check for due deliveries soon. */
  nudgeWebhooks(): void {
    if (this.isFirst) this.#parts.current?.nudgeWebhooks();
    else this.#channel.call('nudgeWebhooks', null).catch(ignoreEnd);
  }

  /** The figures of the connections to the stream, for all processes together. */
  async readStreamCounts(): Promise<StreamCounts> {
    const reports = await this.#channel.call('readProcesses', null);
    return sumStreamCounts(reports.flatMap(({ stream }) => stream ?? []));
  }

  /** The section `processes` of the status. */
  readonly status: StatusProvider = {
    section: 'processes',
    read: async (): Promise<ProcessReport[]> =>
      (await this.#channel.call('readProcesses', null)).map(({ stream: _stream, ...report }) => report),
  };
}

/** Ignores the failure of a call after the supervisor has ended. This process then ends too, so the effect of the call is not needed. */
function ignoreEnd(): void {}
