// HTTP as bytes on a socket: says what no well-behaved client would, and reads whatever comes back.

import net from 'node:net';

export type RawResponse = { status: number; headers: Record<string, string>; body: string };

export type Exchange = {
  /** The final answers in their order; interim ones (1xx) are left out. */
  answers: RawResponse[];
  /** Who ended it: the server, or the client once it had as many answers as it wanted. */
  closedBy: 'server' | 'client';
  elapsedMs: number;
};

export type ExchangeOptions = {
  /** Hang up after so many answers; without it, wait for the server to hang up. */
  answers?: number;
  /** Methods of the requests in their order, where an answer to HEAD has to be told from others. */
  methods?: string[];
  /** Sent again and again while the connection lasts. */
  drip?: { bytes: string; everyMs: number };
  limitMs?: number;
};

/** Ends a test that hangs. */
const LIMIT_MS = 60_000;

/** Sends bytes (one for each character) to a server on this machine and collects what it answers. Rejects when nothing ends within the limit. */
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
        new Error(`no end within ${limitMs} ms, after ${answers.length} answers, the last ${answers.at(-1)?.status}`),
      );
      socket.destroy();
    }, limitMs);
    socket.on('connect', () => {
      socket.write(bytes, 'latin1');
      if (drip) dripping = setInterval(() => socket.writable && socket.write(drip.bytes), drip.everyMs);
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        unread = readAnswers(Buffer.concat([unread, chunk]), methods, answers);
      } catch (error) {
        reject(error);
        socket.destroy();
      }
      if (answers.length < wanted) return;
      closedBy = 'client';
      socket.destroy();
    });
    // A server that hangs up on a client that still talks resets the connection; what came before it counts.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(limit);
      clearInterval(dripping);
      resolve({ answers, closedBy, elapsedMs: performance.now() - started });
    });
  });
}

/** One request, spelt as given, and its one answer. */
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
  if (!answer || answers.length > 1) throw new Error(`${method} ${target.slice(0, 200)}: ${answers.length} answers`);
  return answer;
}

/** Moves the whole answers at the front of what was received to `answers`; returns the rest. Throws on what is no answer. */
function readAnswers(received: Buffer, methods: readonly string[], answers: RawResponse[]): Buffer {
  for (let rest = received; ;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return rest;
    const [statusLine = '', ...lines] = rest.toString('latin1', 0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`not an answer: ${statusLine.slice(0, 200)}`);
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
