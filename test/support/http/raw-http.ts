// Sends HTTP requests as bytes on a socket, for requests that no HTTP client would send.

import net from 'node:net';

export type RawResponse = { status: number; headers: Record<string, string>; body: string };

export type Exchange = {
  /** The responses in the order in which they came, without interim responses (1xx). */
  answers: RawResponse[];
  /** The side that closed the connection. The client closes it after the wanted number of responses. */
  closedBy: 'server' | 'client';
  elapsedMs: number;
};

export type ExchangeOptions = {
  /** Closes the connection after this many responses. By default, `exchange` waits until the server closes the connection. */
  answers?: number;
  /** The methods of the requests, in their order. They are needed because a response to HEAD has no body. */
  methods?: string[];
  /** Bytes that are sent again every `everyMs` while the connection is open. */
  drip?: { bytes: string; everyMs: number };
  limitMs?: number;
};

/** The default of `limitMs`. It is so long that only a test that hangs reaches it. */
const LIMIT_MS = 60_000;

/**
 * Sends `bytes` to a server and collects its responses. Each character of `bytes` is sent as one byte (Latin-1). Rejects if the
 * connection stays open for longer than `limitMs`.
 */
export function exchange(url: string, bytes: string, options: ExchangeOptions = {}): Promise<Exchange> {
  const { answers: wanted = Number.POSITIVE_INFINITY, methods = [], drip, limitMs = LIMIT_MS } = options;
  const { hostname, port } = new URL(url);
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const answers: RawResponse[] = [];
    let unread: Buffer = Buffer.alloc(0);
    let closedBy: Exchange['closedBy'] = 'server';
    let dripping: NodeJS.Timeout | undefined;
    const socket = net.connect(Number(port), hostname);
    const limit = setTimeout(() => {
      reject(
        new Error(
          `the connection is still open after ${limitMs} ms and ${answers.length} responses, the last with status ${answers.at(-1)?.status}`,
        ),
      );
      socket.destroy();
    }, limitMs);
    socket.on('connect', () => {
      socket.write(bytes, 'latin1');
      if (drip) dripping = setInterval(() => socket.writable && socket.write(drip.bytes), drip.everyMs);
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        unread = readResponses(Buffer.concat([unread, chunk]), methods, answers);
      } catch (error) {
        reject(error);
        socket.destroy();
      }
      if (answers.length < wanted) return;
      closedBy = 'client';
      socket.destroy();
    });
    // If the server closes the connection while the client is still sending, the connection is reset. The responses before the
    // reset are returned.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(limit);
      clearInterval(dripping);
      resolve({ answers, closedBy, elapsedMs: performance.now() - started });
    });
  });
}

/** Sends one request with exactly this target, and returns its response. Rejects unless there is exactly one response. */
export async function request(
  url: string,
  target: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; version?: string } = {},
): Promise<RawResponse> {
  const { method = 'GET', headers = {}, body = '', version = 'HTTP/1.1' } = options;
  const lines = Object.entries({
    host: new URL(url).host,
    connection: 'close',
    ...(body !== '' && { 'content-length': String(Buffer.byteLength(body, 'latin1')) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const { answers } = await exchange(url, `${method} ${target} ${version}\r\n${lines.join('')}\r\n${body}`, {
    methods: [method],
  });
  const [answer] = answers;
  if (!answer || answers.length > 1) throw new Error(`${method} ${target.slice(0, 200)}: ${answers.length} responses`);
  return answer;
}

/**
 * Moves the complete responses at the start of `received` to `answers`. Returns the remaining bytes. Throws if the bytes are not an
 * HTTP response.
 */
function readResponses(received: Buffer, methods: readonly string[], answers: RawResponse[]): Buffer {
  for (let rest = received; ;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return rest;
    const [statusLine = '', ...lines] = rest.toString('latin1', 0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`not an HTTP response: ${statusLine.slice(0, 200)}`);
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const bodyStart = headEnd + 4;
    const hasBody = status >= 200 && status !== 204 && status !== 304 && methods[answers.length] !== 'HEAD';
    const bodyEnd = bodyStart + (hasBody ? Number(headers['content-length'] ?? 0) : 0);
    if (bodyEnd > rest.length) return rest;
    if (status >= 200) answers.push({ status, headers, body: rest.toString('utf8', bodyStart, bodyEnd) });
    rest = rest.subarray(bodyEnd);
  }
}
