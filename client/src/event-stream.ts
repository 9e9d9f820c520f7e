// Reads server-sent events from a response body (WHATWG HTML, section 9.2.6).

import { MercatError } from './mercat-error.ts';

/** If the event has no id of its own, `id` is the last id that the stream sent before the event, or null. */
export type ServerSentEvent = { id: string | null; event: string; data: string };

/** The largest number of characters of an event. All events that the service sends are shorter. */
const EVENT_CHARACTERS_MAX = 1_000_000;
const LINE_END = /\r\n|\n|\r/;

/** The fields of a stream that apply to the connection and not to one event. */
export type StreamState = {
  /** The id of the last complete block with an id, even if this block has no data. A block is the lines up to an empty line. */
  lastEventId: string | null;
  /** How long the service asks clients to wait before they connect again. */
  retryMs: number | null;
};

/** Parses lines. `push` returns the event that the line completes, or null. */
class EventParser {
  readonly #state: StreamState;
  #id: string | null = null;
  #event = '';
  #data: string[] = [];
  #size = 0;

  constructor(state: StreamState) {
    this.#state = state;
  }

  push(line: string): ServerSentEvent | null {
    if (line === '') return this.#complete();
    this.#size += line.length;
    if (this.#size > EVENT_CHARACTERS_MAX)
      throw new MercatError('invalid_response', 'An event of the stream is too long');
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.#state.retryMs = Number(value);
    return null;
  }

  /** Only a complete block sets the last event id. So if a block is cut off, the stream resumes before this block. */
  #complete(): ServerSentEvent | null {
    this.#state.lastEventId = this.#id ?? this.#state.lastEventId;
    const { lastEventId: id } = this.#state;
    const event = this.#data.length === 0 ? null : { id, event: this.#event || 'message', data: this.#data.join('\n') };
    this.#event = '';
    this.#data = [];
    this.#size = 0;
    return event;
  }
}

export type StreamListeners = {
  /** Called whenever bytes arrive. */
  onBytes: () => void;
  /** Called with each new `lastEventId`, after the caller has taken the event with this id. */
  onPosition?: ((id: string) => void) | undefined;
};

/** The events of a body. An event that the end of the body cuts off is left out. The caller ends the connection. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  state: StreamState,
  { onBytes, onPosition }: StreamListeners,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new EventParser(state);
  let rest = '';
  for (;;) {
    const { done, value } = await read(reader);
    if (done) return;
    onBytes();
    const text = rest + decoder.decode(value, { stream: true });
    // A CR at the end may be the first half of a CRLF.
    const held = text.endsWith('\r') ? 1 : 0;
    const lines = text.slice(0, text.length - held).split(LINE_END);
    rest = (lines.pop() ?? '') + text.slice(text.length - held);
    if (rest.length > EVENT_CHARACTERS_MAX)
      throw new MercatError('invalid_response', 'A line of the stream is too long');
    for (const line of lines) {
      const position = state.lastEventId;
      const event = parser.push(line);
      if (event) yield event;
      if (state.lastEventId !== null && state.lastEventId !== position) onPosition?.(state.lastEventId);
    }
  }
}

type Chunk = { done: boolean; value?: Uint8Array | undefined };

async function read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Chunk> {
  try {
    return await reader.read();
  } catch (cause) {
    // If the client itself has ended the connection, `cause` is the MercatError with which it did so.
    throw cause instanceof MercatError ? cause : new MercatError('network_error', 'The stream was cut off', { cause });
  }
}
