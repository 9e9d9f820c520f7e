// A client of server-sent events, with the parsing rules of the standard (WHATWG HTML, section 9.2.6). Unlike an EventSource it never
// connects again by itself, and it can stop reading.

import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { until } from '../until.ts';

export type StreamEvent = { id: string; event: string; data: any };

export type StreamRequest = { lastEventId?: string; headers?: Record<string, string> };

/** The server did not respond with a stream. */
export class StreamRejected extends Error {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: any;

  constructor(response: IncomingMessage, body: unknown) {
    super(`the stream responds with ${response.statusCode}: ${JSON.stringify(body)}`);
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.body = body;
  }
}

const LIMIT_MS = 60_000;

export class EventStream {
  readonly events: StreamEvent[] = [];
  readonly headers: http.IncomingHttpHeaders;
  /** The offset with which an EventSource would connect again. */
  lastEventId: string;
  retryMs: number | null = null;
  comments = 0;
  /** Resolves when the connection has ended. The value is true if the response was complete. */
  readonly ended: Promise<boolean>;
  isEnded = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  #text = '';
  #id: string;
  #event = '';
  #data: string[] = [];

  private constructor(request: ClientRequest, response: IncomingMessage, lastEventId = '') {
    this.#request = request;
    this.#response = response;
    this.headers = response.headers;
    this.lastEventId = lastEventId;
    this.#id = lastEventId;
    response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.ended = new Promise((resolve) => {
      const end = () => {
        this.isEnded = true;
        resolve(response.complete);
      };
      response.once('error', end).once('close', end);
    });
  }

  /** Connects. Throws StreamRejected for a response other than a stream. */
  static async open(url: string, { lastEventId, headers = {} }: StreamRequest = {}): Promise<EventStream> {
    const request = http.get(url, {
      agent: false,
      headers: { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.on('error', () => undefined);
    if (response.statusCode !== 200) throw new StreamRejected(response, await json(response));
    return new EventStream(request, response, lastEventId);
  }

  /** Waits until at least this many events have arrived. */
  async received(count: number): Promise<StreamEvent[]> {
    await until(() => this.events.length >= count, LIMIT_MS, `${count} events did not arrive`);
    return this.events;
  }

  /** Reads no further bytes from the connection. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  /** Cuts the connection. */
  close(): void {
    this.#request.destroy();
  }

  #read(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line);
  }

  #readLine(line: string): void {
    if (line === '') return this.#dispatch();
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === '') this.comments += 1;
    else if (field === 'id') this.#id = value;
    else if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'retry') this.retryMs = Number(value);
  }

  /** Ends an event at an empty line. If the event has no data, only its offset is kept. */
  #dispatch(): void {
    this.lastEventId = this.#id;
    if (this.#data.length > 0) {
      this.events.push({ id: this.#id, event: this.#event, data: JSON.parse(this.#data.join('\n')) });
    }
    this.#event = '';
    this.#data = [];
  }
}
