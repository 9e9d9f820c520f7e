// A `pg` connection to the embedded engine. The driver reads and writes the messages of PostgreSQL's protocol itself, over a stream to the
// engine. PGlite's own reader would lose a byte-order mark at the beginning of a text.

import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import { Connection } from 'pg';

/** The SQLSTATE `disk_full`. After this error the statement has changed nothing, and the engine continues. */
const DISK_FULL = '53100';

/** The SQLSTATE `statement_too_complex`. */
const TOO_COMPLEX = '54001';

/**
 * PGlite never lets the event loop run, so a loop of statements would block all other work. Therefore a statement first waits for the event
 * loop if the latest such wait was longer ago than this.
 */
const YIELD_AFTER_MS = 10;

/**
 * The deepest accepted nesting of a JSON parameter. PostgreSQL's JSON parser is recursive and overflows the stack at about 6,000 levels.
 * Its check of the stack depth does not work in this process.
 */
const NESTING_MAX = 2_000;

/** The types whose values PostgreSQL never parses as nested values: bytea, text, bpchar and varchar. */
const TEXT_TYPES = new Set([17, 25, 1042, 1043]);

/** The engine, and the time of its latest wait for the event loop (`performance.now()`). */
export type EngineInUse = { engine: Pick<PGlite, 'execProtocolRawStream'>; yieldedAt: number };

/** `dir`, the directory of the database, is only used in error messages. */
export class EmbeddedConnection extends Connection {
  constructor(inUse: EngineInUse, dir: string) {
    super({ stream: () => new EngineStream(inUse, (error) => this.emit('error', error)) });
    this.on('errorMessage', (error: Error & { code?: string }) => {
      if (error.code !== DISK_FULL) return;
      error.message += ` (the disk that holds ${dir} is full: free some space, nothing of this statement was stored)`;
    });
  }

  /** Called by the driver. The engine needs no handshake, so the connection is ready at once. */
  connect(): void {
    // Without this member, the driver's `end` assumes that nothing was connected, and returns too early.
    Object.assign(this, { _connecting: true });
    this.stream.on('close', () => this.emit('end'));
    (this as unknown as { attachListeners(stream: Duplex): void }).attachListeners(this.stream);
    process.nextTick(() => this.emit('readyForQuery', {}));
  }
}

/** The first byte of a message, for each kind of message that this file recognises. */
const MESSAGE = { bind: 0x42, sync: 0x53, terminate: 0x58, parameterDescription: 0x74 } as const;
const LENGTH_BYTES = 4;

/**
 * Passes written messages to the engine one after the other, and the engine's responses to the reader. Messages that were written before
 * the stream was destroyed are still passed: the only session of the engine must not stop within a statement.
 */
class EngineStream extends Duplex {
  readonly #inUse: EngineInUse;
  readonly #onFailure: (error: unknown) => void;
  #passed: Promise<void> = Promise.resolve();
  /** True after a rejected statement: PostgreSQL ignores all messages from an error to the next Sync message. */
  #isSkipping = false;

  constructor(inUse: EngineInUse, onFailure: (error: unknown) => void) {
    super({ allowHalfOpen: false });
    this.#inUse = inUse;
    this.#onFailure = onFailure;
  }

  override _read(): void {
    // Responses are pushed as soon as the engine has them.
  }

  override _write(message: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#passed = this.#passed.then(() => this.#pass(message)).catch(this.#onFailure);
    callback();
  }

  override _final(callback: () => void): void {
    void this.#afterMessages(() => {
      this.push(null);
      callback();
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    void this.#afterMessages(() => callback(error));
  }

  async #afterMessages(act: () => void): Promise<void> {
    await this.#passed;
    act();
  }

  /** Called by the driver for sockets, which can keep the process alive. This stream has no socket. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  async #pass(message: Buffer): Promise<void> {
    if (message[0] === MESSAGE.terminate) return;
    if (this.#isSkipping && message[0] !== MESSAGE.sync) return;
    this.#isSkipping = false;
    if (message[0] === MESSAGE.bind && (await this.#isTooComplex(message))) {
      this.#isSkipping = true;
      this.#respond([TOO_COMPLEX_RESPONSE]);
      return;
    }
    this.#respond(await this.#send(message));
  }

  #respond(responses: readonly Buffer[]): void {
    if (this.destroyed) return;
    for (const response of responses) this.push(response);
  }

  /** Returns the responses of the engine to a message. If the engine breaks meanwhile, the responses are dropped. */
  async #send(message: Buffer): Promise<readonly Buffer[]> {
    if (performance.now() - this.#inUse.yieldedAt > YIELD_AFTER_MS) {
      await setImmediate();
      this.#inUse.yieldedAt = performance.now();
    }
    const responses: Buffer[] = [];
    // A response is copied, because it lies in the memory of the engine.
    await this.#inUse.engine.execProtocolRawStream(message, { onRawData: (data) => responses.push(Buffer.from(data)) });
    return responses;
  }

  /**
   * Whether PostgreSQL would parse a parameter that is nested too deeply. The types of the parameters are requested from the engine only if
   * a value is nested too deeply.
   */
  async #isTooComplex(bind: Buffer): Promise<boolean> {
    const { statement, values } = readBind(bind);
    if (!values.some(isNestedTooDeeply)) return false;
    const types = readParameterTypes(Buffer.concat(await this.#send(describeStatement(statement))));
    return values.some((value, index) => isNestedTooDeeply(value) && !TEXT_TYPES.has(types[index] ?? 0));
  }
}

/** The statement and the parameters of a Bind message. A null parameter is undefined. */
function readBind(message: Buffer): { statement: Buffer; values: (Buffer | undefined)[] } {
  let at = 1 + LENGTH_BYTES;
  const readText = (): Buffer => {
    const end = message.indexOf(0, at);
    const text = message.subarray(at, end);
    at = end + 1;
    return text;
  };
  const readCount = (): number => {
    at += 2;
    return message.readUInt16BE(at - 2);
  };
  readText(); // the name of the portal
  const statement = readText();
  const formats = readCount();
  at += 2 * formats;
  const values = Array.from({ length: readCount() }, () => {
    const length = message.readInt32BE(at);
    at += LENGTH_BYTES;
    if (length < 0) return undefined;
    at += length;
    return message.subarray(at - length, at);
  });
  return { statement, values };
}

function describeStatement(name: Buffer): Buffer {
  return toMessage('D', Buffer.concat([Buffer.from('S'), name, Buffer.of(0)]));
}

/** The types of a statement's parameters, as numbers of `pg_type`. Empty if the engine rejected the statement. */
function readParameterTypes(responses: Buffer): number[] {
  for (let at = 0; at < responses.length; at += 1 + responses.readInt32BE(at + 1)) {
    if (responses[at] !== MESSAGE.parameterDescription) continue;
    const first = at + 1 + LENGTH_BYTES;
    return Array.from({ length: responses.readUInt16BE(first) }, (_, index) =>
      responses.readUInt32BE(first + 2 + index * 4),
    );
  }
  return [];
}

/** The error that PostgreSQL would send if its check of the stack depth worked. */
const TOO_COMPLEX_RESPONSE = toMessage(
  'E',
  Buffer.from(`SERROR\0VERROR\0C${TOO_COMPLEX}\0Ma value is nested more than ${NESTING_MAX} levels deep\0\0`),
);

function toMessage(kind: string, content: Buffer): Buffer {
  const head = Buffer.alloc(1 + LENGTH_BYTES);
  head.write(kind);
  head.writeInt32BE(LENGTH_BYTES + content.length, 1);
  return Buffer.concat([head, content]);
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Whether PostgreSQL's JSON parser would recurse too deeply into `text`, well formed or not. */
function isNestedTooDeeply(text: Buffer | undefined): boolean {
  if (text === undefined || text.length <= NESTING_MAX) return false;
  const start = text.findIndex((byte) => !SPACE.has(byte));
  if (!OPENING.has(text[start] ?? 0)) return false;
  let depth = 0;
  let inString = false;
  for (let index = start; index < text.length; index += 1) {
    const byte = text[index] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > NESTING_MAX) return true;
    } else if (CLOSING.has(byte)) {
      depth -= 1;
    }
  }
  return false;
}
