// Connects a serving process with its supervisor.

import type { StatusProvider } from '../../platform/core/status.ts';
import type { CallHandlers, Link } from './channel.ts';
import { Channel } from './channel.ts';
import type { ProcessCalls, ProcessStart, StartedProcess, SupervisorChannel } from './calls.ts';

export class Membership {
  readonly start: ProcessStart;
  readonly #channel: SupervisorChannel;
  /** Called when another process has recorded an event of a webhook. */
  readonly #onNudge: { current: () => void };

  private constructor(start: ProcessStart, channel: SupervisorChannel, onNudge: { current: () => void }) {
    this.start = start;
    this.#channel = channel;
    this.#onNudge = onNudge;
  }

  /** Joins the service. `onStop` is called when the supervisor stops this process. */
  static async join(link: Link, onStop: (graceMs: number) => void): Promise<Membership> {
    const onNudge = { current: () => undefined as void };
    const handlers: CallHandlers<ProcessCalls> = {
      ping: () => null,
      nudgeWebhooks: () => {
        onNudge.current();
        return null;
      },
      stop: ({ graceMs }) => {
        onStop(graceMs);
        return null;
      },
    };
    const channel: SupervisorChannel = new Channel(link, handlers);
    return new Membership(await channel.call('join', null), channel, onNudge);
  }

  /** Whether this process runs the tasks, sends webhooks and serves the local socket. */
  get isFirst(): boolean {
    return this.start.number === 1;
  }

  /** Tells the supervisor that this process serves requests. */
  async reportStarted(started: StartedProcess): Promise<void> {
    await this.#channel.call('started', started);
  }

  /** Tells the supervisor why this process cannot start. */
  async reportFailed(failure: { message: string; exitCode: 1 | 2 }): Promise<void> {
    await this.#channel.call('failed', failure);
  }

  /** Sets the function of this process that makes its webhook worker check for due deliveries soon. */
  onNudge(nudge: () => void): void {
    this.#onNudge.current = nudge;
  }

  /** Makes the process that sends webhooks check for due deliveries soon. */
  nudgeWebhooks(): void {
    // If the supervisor has ended, this process ends too.
    this.#channel.call('nudgeWebhooks', null).catch(() => undefined);
  }

  /** The section `processes` of the status. */
  readonly status: StatusProvider = {
    section: 'processes',
    read: () => this.#channel.call('readProcesses', null),
  };
}
