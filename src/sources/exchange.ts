// One HTTP exchange with an upstream, bounded in every way: one deadline over all of it, body included, a limit on the size
// of the answer after decompression, and no redirects. It never retries and never judges a status.

export type ExchangeOptions = {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
  /** Bytes of the decompressed answer. */
  bytesMax: number;
  signal?: AbortSignal;
};

export type Exchange = { status: number; headers: Headers; body: Buffer };

/** What went wrong before there was an answer. Its message names no address: those may hold keys. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure';
  readonly reason: 'timeout' | 'too-large' | 'unreachable' | 'redirected' | 'aborted';

  constructor(reason: ExchangeFailure['reason'], options?: { cause?: unknown }) {
    super(MESSAGES[reason], options);
    this.reason = reason;
  }
}

const MESSAGES = {
  timeout: 'no whole answer in time',
  'too-large': 'the answer is larger than allowed',
  unreachable: 'the connection failed',
  redirected: 'the answer is a redirect',
  aborted: 'given up',
};

/** Sends one request and reads the whole answer. Throws ExchangeFailure. */
export async function exchange(url: string, options: ExchangeOptions): Promise<Exchange> {
  const { method = 'GET', headers = {}, body, timeoutMs, bytesMax, signal } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      ...(body !== undefined && { body }),
    });
    if (response.status >= 300 && response.status < 400 && response.status !== 304) {
      await response.body?.cancel();
      throw new ExchangeFailure('redirected');
    }
    return { status: response.status, headers: response.headers, body: await readBody(response, bytesMax) };
  } catch (error) {
    if (error instanceof ExchangeFailure) throw error;
    const reason = signal?.aborted ? 'aborted' : deadline.aborted ? 'timeout' : 'unreachable';
    throw new ExchangeFailure(reason, { cause: error });
  }
}

async function readBody(response: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return Buffer.alloc(0);
  // Leaving the loop early cancels the stream, and with it the connection.
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > bytesMax) throw new ExchangeFailure('too-large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
