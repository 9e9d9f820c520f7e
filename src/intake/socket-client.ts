// The intake of a running server, reached over its Unix socket: the file is streamed in while the events stream out, so
// neither end ever waits for the other to finish. It must never leave a caller without an answer when the server dies.

import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import http from 'node:http';
import net from 'node:net';
import { OperatorError } from '../core/errors.ts';
import type { IntakeConnection } from './connection.ts';
import { ImportFailure } from './import.ts';
import { splitLines } from './lines.ts';
import type { AnswerEvent } from './import-protocol.ts';
import { toRequestTarget } from './import-protocol.ts';
import type { ImportSummary } from './import-summary.ts';
import { createTally } from './import-summary.ts';

/** The most of a refusal's body that is read. */
const REFUSAL_SIZE_MAX = 64 * 1024;
const GONE = 'the server went away without an answer';
/** Codes that say that nobody listens: no socket, or one that a dead server left behind. */
const NOBODY_CODES = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']);

export function createSocketConnection(socketPath: string): IntakeConnection {
  return {
    import: (source, options, onEvent) => importOverSocket(socketPath, source, { options, onEvent }),
    close: () => Promise.resolve(),
  };
}

/** True when a server listens on the socket. Throws when that cannot be told, as for want of permission. */
export async function isServerListening(socketPath: string): Promise<boolean> {
  const probe = net.connect(socketPath);
  try {
    await once(probe, 'connect');
    return true;
  } catch (error) {
    if (NOBODY_CODES.has((error as { code?: string }).code ?? '')) return false;
    throw error;
  } finally {
    probe.destroy();
  }
}

type Import = {
  options: Parameters<IntakeConnection['import']>[1];
  onEvent: Parameters<IntakeConnection['import']>[2];
};

async function importOverSocket(
  socketPath: string,
  source: AsyncIterable<Uint8Array>,
  { options, onEvent }: Import,
): Promise<ImportSummary> {
  const request = http.request({
    socketPath,
    path: toRequestTarget(options),
    method: 'POST',
    agent: false,
    headers: { 'content-type': options.format === 'csv' ? 'text/csv' : 'application/x-ndjson' },
  });
  // Whatever breaks the request also ends its answer: the reader of the answer reports it.
  request.on('error', () => undefined);
  const abort = () => request.destroy(options.signal?.reason as Error);
  options.signal?.addEventListener('abort', abort, { once: true });
  if (options.signal?.aborted) abort();

  const progress = { summary: createTally().summary() };
  let sourceFailure: { error: unknown } | null = null;
  const sending = send(source, request).catch((error: unknown) => {
    sourceFailure = { error };
    request.destroy();
  });
  try {
    return await readAnswer(request, { onEvent, progress });
  } catch (error) {
    if (error instanceof ImportFailure) throw error;
    const aborted = options.signal?.aborted ? { error: options.signal.reason as unknown } : null;
    throw new ImportFailure(progress.summary, (sourceFailure ?? aborted ?? { error }).error);
  } finally {
    options.signal?.removeEventListener('abort', abort);
    request.destroy();
    void sending;
  }
}

/** Sends the source as fast as the server takes it, until it ends or the request is closed. */
async function send(source: AsyncIterable<Uint8Array>, request: ClientRequest): Promise<void> {
  for await (const chunk of source) {
    if (request.destroyed) return;
    if (!request.write(chunk)) await writable(request);
  }
  if (!request.destroyed) request.end();
}

function writable(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      request.off('drain', done).off('close', done);
      resolve();
    };
    request.once('drain', done).once('close', done);
    if (request.destroyed) done();
  });
}

async function readAnswer(
  request: ClientRequest,
  { onEvent, progress }: { onEvent: Import['onEvent']; progress: { summary: ImportSummary } },
): Promise<ImportSummary> {
  const response = await awaitResponse(request);
  if (response.statusCode !== 200) throw new OperatorError(`the server refused: ${await readRefusal(response)}`);
  for await (const lines of splitLines(untilGone(response))) {
    for (const line of lines) {
      const answer = JSON.parse(line.text ?? 'null') as AnswerEvent;
      if (answer.event === 'done') {
        const { event: _event, ...summary } = answer;
        return summary;
      }
      if (answer.event === 'error') throw new ImportFailure(answer.summary, new Error(answer.reason));
      if (answer.event === 'progress') progress.summary = { ...progress.summary, ...answer };
      await onEvent(answer);
    }
  }
  throw new OperatorError(GONE);
}

async function* untilGone(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new OperatorError(GONE, { cause });
  }
}

async function awaitResponse(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', (cause) => reject(new OperatorError('the server cannot be reached', { cause })));
    request.once('close', () => reject(new OperatorError(GONE)));
  });
}

async function readRefusal(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > REFUSAL_SIZE_MAX) break;
  }
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return `status ${response.statusCode}`;
  }
}
