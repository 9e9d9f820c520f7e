// Calls the operations of a running server over its local socket. No call waits for ever: a call ends when the command is stopped, when the
// server does not respond at all, or at a limit.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { OperatorError, describeError } from '../platform/core/errors.ts';
import { ServerUnresponsive } from '../intake/connection.ts';
import { describeServer } from '../server/local-socket.ts';
import { Interruption } from './interruption.ts';
import type { ServiceConnection } from './service-connection.ts';

type ServerResponse = {
  result?: unknown;
  mistake?: { message: string; exitCode: 1 | 2 };
  error?: { code: string; message: string };
};

/** `signal` ends the call. */
type CallOptions = { signal: AbortSignal };

/** While a call waits, the client checks at this interval that the server responds. */
const CHECK_PERIOD_MS = 5_000;
/** A server that does not respond to a check for this long hangs. It is long, because a large statement blocks the embedded engine. */
const CHECK_LIMIT_MS = 10_000;
/** The longest call, although the server responds to checks. */
const CALL_LIMIT_MS = 60_000;
/** The operations that read chains, or change as many rows as there are, and the longest call of them. */
const LONG_OPERATIONS =
  /^(audit|audit\..*|collections\.(add|remove)|imports\.undo|sample\.remove|secrets\.(encrypt|decrypt))$/;
const LONG_CALL_LIMIT_MS = 24 * 3_600_000;

/** `signal` ends each call and each import, unless the call has a signal of its own. */
export function connectToServer(socketPath: string, signal: AbortSignal): ServiceConnection {
  return {
    call: (operation, input, options = { signal }) => callServer(socketPath, operation, input, options),
    import: async (source, options, onEvent) => {
      const { SocketIntake } = await import('../intake/socket-client.ts');
      using watch = new ServerWatch(socketPath);
      const signals = [watch.signal, ...(options.signal ? [options.signal] : [])];
      return await new SocketIntake(socketPath).import(
        source,
        { ...options, signal: AbortSignal.any(signals) },
        onEvent,
      );
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Runs one operation and returns its result. Throws OperatorError if the operation fails or the server does not respond. */
export async function callServer(
  socketPath: string,
  operation: string,
  input: object,
  { signal }: CallOptions,
): Promise<unknown> {
  using watch = new ServerWatch(socketPath, LONG_OPERATIONS.test(operation) ? LONG_CALL_LIMIT_MS : CALL_LIMIT_MS);
  const ended = AbortSignal.any([signal, watch.signal]);
  const response = await send(socketPath, operation, input, ended).catch((error: unknown) => {
    if (ended.aborted) throw toStopError(ended.reason);
    throw new OperatorError(`the running server did not respond: ${describeError(error)}`);
  });
  if (response.mistake) throw new OperatorError(response.mistake.message, { exitCode: response.mistake.exitCode });
  if (response.error?.code === 'unavailable') throw new OperatorError(response.error.message);
  if (!('result' in response)) throw new OperatorError('the running server failed: see its log');
  return response.result;
}

/** The error of a command that ends before its operation. `reason`: the reason of the signal that ended it. */
export function toStopError(reason: unknown): OperatorError {
  if (reason instanceof OperatorError) return reason;
  const by = reason instanceof Interruption ? ` by ${reason.stopSignal}` : '';
  return new OperatorError(`stopped${by} before the operation was complete`);
}

async function send(
  socketPath: string,
  operation: string,
  input: object,
  signal: AbortSignal,
): Promise<ServerResponse> {
  const request = httpRequest({
    socketPath,
    path: `/operator/v1/${operation}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    agent: false,
    signal,
  });
  request.end(JSON.stringify(input));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ServerResponse;
}

/** Aborts its signal when the server hangs, or at the limit. The reason is an OperatorError. Declare it with `using`, which ends the checks. */
class ServerWatch implements Disposable {
  readonly #socketPath: string;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly #timers: NodeJS.Timeout[];

  constructor(socketPath: string, limitMs?: number) {
    this.#socketPath = socketPath;
    this.#timers = [setInterval(() => void this.#check(), CHECK_PERIOD_MS)];
    if (limitMs !== undefined)
      this.#timers.push(
        setTimeout(() => this.#fail(`has not completed the operation within ${limitMs / 1_000} s`), limitMs),
      );
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#ended.abort();
  }

  #fail(what: string): void {
    this.#lost.abort(new ServerUnresponsive(`${describeServer(this.#socketPath)} ${what}`));
  }

  /** Any response shows that the server runs, also that of an earlier version, which does not have the operation. */
  async #check(): Promise<void> {
    const late = AbortSignal.timeout(CHECK_LIMIT_MS);
    try {
      await send(this.#socketPath, 'ping', {}, AbortSignal.any([late, this.#ended.signal]));
    } catch {
      // The call itself reports every other failure, such as the end of the server.
      if (late.aborted && !this.#ended.signal.aborted) this.#fail('does not respond');
    }
  }
}
