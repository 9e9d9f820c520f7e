// Imports records through a running server, over its Unix socket. File and response are transferred concurrently, so that client and server
// do not block each other. Each import ends with a summary or an ImportFailure, even if the server dies.

import type { ClientRequest, IncomingMessage } from 'node:http';
import http from 'node:http';
import { describeError, OperatorError } from '../platform/core/errors.ts';
import type { ConnectionImportOptions, ImportListener, IntakeConnection } from './connection.ts';
import { ServerUnresponsive } from './connection.ts';
import { ImportFailure } from './import.ts';
import { splitLines } from './lines.ts';
import type { ResponseEvent } from './import-protocol.ts';
import { STOPPED_TRAILER, toRequestTarget } from './import-protocol.ts';
import type { ImportSummary } from './import-summary.ts';
import { ImportCounter } from './import-summary.ts';

/** The client stops reading an error response after this many characters. */
const ERROR_BODY_MAX = 64 * 1024;
/** After a stop, the client waits this long for the server to report what was stored. */
const STOP_PATIENCE_MS = 15_000;
const CLOSED = 'the server closed the connection before its response was complete';

/** Imports through the server that listens on `socketPath`. Each import opens its own connection. */
export class SocketIntake implements IntakeConnection {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async import(
    source: AsyncIterable<Uint8Array>,
    options: ConnectionImportOptions,
    onEvent: ImportListener,
  ): Promise<ImportSummary> {
    return new SocketImport(this.#socketPath, options, onEvent).run(source);
  }
}

class SocketImport {
  readonly #request: ClientRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #onEvent: ImportListener;
  #summary: ImportSummary = new ImportCounter().summary();
  #sourceError: { error: unknown } | null = null;
  #patience: NodeJS.Timeout | undefined;

  constructor(socketPath: string, options: ConnectionImportOptions, onEvent: ImportListener) {
    this.#request = http.request({
      socketPath,
      path: toRequestTarget(options),
      method: 'POST',
      agent: false,
      headers: {
        'content-type': options.format === 'csv' ? 'text/csv' : 'application/x-ndjson',
        trailer: STOPPED_TRAILER,
      },
    });
    // An error event without a listener would end the process. This listener does nothing, because #awaitResponse or #readEvents handles
    // the error.
    this.#request.on('error', () => undefined);
    this.#signal = options.signal;
    this.#onEvent = onEvent;
  }

  async run(source: AsyncIterable<Uint8Array>): Promise<ImportSummary> {
    const abort = () => this.#stop(this.#signal?.reason);
    this.#signal?.addEventListener('abort', abort, { once: true });
    if (this.#signal?.aborted) abort();
    void this.#send(source);
    try {
      return await this.#readEvents(await this.#awaitResponse());
    } catch (error) {
      if (error instanceof ImportFailure) throw error;
      const aborted = this.#signal?.aborted ? { error: this.#signal.reason as unknown } : null;
      throw new ImportFailure(this.#summary, (this.#sourceError ?? aborted ?? { error }).error);
    } finally {
      this.#signal?.removeEventListener('abort', abort);
      clearTimeout(this.#patience);
      this.#request.destroy();
    }
  }

  /**
   * Sends the source until it ends or the request is closed. Never rejects: an error of the source is kept in `#sourceError`, and stops the
   * import.
   */
  async #send(source: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of source) {
        if (this.#request.destroyed || this.#request.writableEnded) return;
        if (!this.#request.write(chunk)) await drained(this.#request);
      }
      if (!this.#request.destroyed && !this.#request.writableEnded) this.#request.end();
    } catch (error) {
      this.#sourceError = { error };
      this.#stop(error);
    }
  }

  /** Ends the body with the trailer that stops the import. Closes the request if the server does not report within `STOP_PATIENCE_MS`. */
  #stop(reason: unknown): void {
    if (reason instanceof ServerUnresponsive) {
      this.#request.destroy();
      return;
    }
    this.#patience ??= setTimeout(() => this.#request.destroy(), STOP_PATIENCE_MS);
    if (this.#request.writableEnded || this.#request.destroyed) return;
    this.#request.addTrailers({ [STOPPED_TRAILER]: encodeURIComponent(describeError(reason)) });
    this.#request.end();
  }

  #awaitResponse(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      this.#request.once('response', resolve);
      this.#request.once('error', (cause) => reject(new OperatorError('the server cannot be reached', { cause })));
      this.#request.once('close', () => reject(new OperatorError(CLOSED)));
    });
  }

  async #readEvents(response: IncomingMessage): Promise<ImportSummary> {
    if (response.statusCode !== 200) {
      throw new OperatorError(`the server rejected the import: ${await readErrorMessage(response)}`);
    }
    for await (const lines of splitLines(untilClosed(response))) {
      for (const line of lines) {
        if (line.text === null) {
          throw new OperatorError(
            `a line of the response cannot be read: ${line.reason}; mercat imports list shows what was stored`,
          );
        }
        const received = JSON.parse(line.text) as ResponseEvent;
        if (received.event === 'done') {
          const { event: _event, ...summary } = received;
          return summary;
        }
        if (received.event === 'error') throw new ImportFailure(received.summary, new Error(received.reason));
        if (received.event === 'progress') {
          const { event: _event, ...counts } = received;
          this.#summary = { ...this.#summary, ...counts };
        }
        await this.#onEvent(received);
      }
    }
    throw new OperatorError(CLOSED);
  }
}

/** Resolves when the request can be written to again, or is closed. */
function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      request.off('drain', done).off('close', done);
      resolve();
    };
    request.once('drain', done).once('close', done);
    if (request.destroyed) done();
  });
}

async function* untilClosed(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new OperatorError(CLOSED, { cause });
  }
}

/** Returns the message of an error response. If the body is not a JSON error of the intake, returns a text with the HTTP status. */
async function readErrorMessage(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > ERROR_BODY_MAX) break;
  }
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return `status ${response.statusCode}`;
  }
}
