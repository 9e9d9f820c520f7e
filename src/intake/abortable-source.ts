// Makes the reading of a byte stream abortable, even while the stream waits for its next chunk.

/** Yields the chunks of `source`. Throws the signal's reason as soon as the signal aborts. */
export async function* untilAborted(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await orAbort(chunks.next(), signal);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: if the source hangs in a read, this call would hang too.
    void Promise.resolve(chunks.return?.()).catch(() => undefined);
  }
}

function orAbort<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
