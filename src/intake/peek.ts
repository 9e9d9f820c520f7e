// Reads the beginning of a source of bytes before the source is processed.

/**
 * Reads until `isEnough` returns true, or until the end. Returns the bytes that were read, and a new source that yields all bytes from the
 * beginning. The original source is closed only when the caller reads the new source to its end or closes it.
 */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  isEnough: (head: Buffer) => boolean,
): Promise<{ head: Buffer; source: AsyncIterable<Uint8Array> }> {
  const chunks = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (!isEnough(head)) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, source: withHead(head, chunks) };
}

async function* withHead(head: Buffer, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  } finally {
    await chunks.return?.();
  }
}
