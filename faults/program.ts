// A process of Mercat, started as an operator starts it. It can be killed, frozen and started again at the same address.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../test/support/until.ts';

/** The folder of this version of Mercat. */
export const CURRENT = fileURLToPath(new URL('..', import.meta.url));
const LINES_MAX = 10_000;

/** The running processes. They are killed when this process exits. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class Program {
  readonly #args: readonly string[];
  readonly #settings: Record<string, string>;
  /** The folder of the version of Mercat that the next launch starts. */
  root = CURRENT;
  #child: ChildProcess | null = null;
  #closed: Promise<unknown> = Promise.resolve();
  /** The newest LINES_MAX lines that the process wrote. Lines from before a restart are kept. */
  readonly lines: string[] = [];

  constructor(args: readonly string[], settings: Record<string, string>) {
    this.#args = args;
    this.#settings = settings;
  }

  /** Starts the process without waiting for it. Adds `settings` to the settings of the constructor. */
  launch(settings: Record<string, string> = {}): void {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, [path.join(this.root, 'bin', 'mercat.mjs'), ...this.#args], {
      env: { PATH, ...this.#settings, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.lines.push(...text.split('\n').filter((line) => line !== ''));
        this.lines.splice(0, this.lines.length - LINES_MAX);
      });
    }
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.#closed = once(child, 'close');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The exit code of a process that has ended by itself. */
  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  /** Waits for the end of the process, and returns its exit code. Null if a signal ended the process. */
  async ended(limitMs: number): Promise<number | null> {
    await until(() => !this.isRunning, limitMs, `mercat ${this.#args.join(' ')} did not end`);
    // The last lines may arrive after the exit.
    await this.#closed;
    return this.exitCode;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Sends a signal that ends the process, and waits for the end. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === null || !this.isRunning) return;
    const ended = once(child, 'exit');
    // SIGTERM ends a frozen process only after the process continues.
    if (signal === 'SIGTERM') child.kill('SIGCONT');
    child.kill(signal);
    await ended;
  }

  /** Waits until the process has written a line that contains `text`. */
  async written(text: string, limitMs: number): Promise<void> {
    await until(
      () => !this.isRunning || this.lines.some((line) => line.includes(text)),
      limitMs,
      `mercat ${this.#args.join(' ')} did not write “${text}”`,
    );
    if (!this.isRunning)
      throw new Error(`mercat ${this.#args.join(' ')} has ended: ${this.lines.slice(-5).join('\n')}`);
  }
}
