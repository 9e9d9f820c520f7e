// A `pg` pool of one connection over the embedded engine. PGlite has one session for all connections: a new one starts only when the
// statements of the one before have ended, and resets the session.

import { setImmediate } from 'node:timers/promises';
import { callbackify } from 'node:util';
import type { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import type { ClientConfig } from 'pg';
import { Client, Pool } from 'pg';

/** PostgreSQL's `disk_full`: an ordinary error. The engine goes on, and the statement has changed nothing. */
const DISK_FULL = '53100';

/** PGlite runs statements without returning to the event loop: a loop of statements would block all other work. */
const YIELD_AFTER_MS = 10;

/** PostgreSQL's `statement_too_complex`. */
const TOO_COMPLEX = '54001';

/** PostgreSQL's JSON parser recurses without a check that works here: from some 6,000 levels on it overflows the stack of this process. */
const NESTING_MAX = 2_000;

type Wire = Pick<PGlite, 'execProtocolStream' | 'waitReady'>;

/** The pool does not own the engine. `dir` is for messages. */
export function createEmbeddedPool(engine: PGlite, dir: string): Pool {
  const wire = createWire(engine, dir);
  let previousEnded: Promise<unknown> = Promise.resolve();

  class EmbeddedClient extends Client {
    constructor(config: ClientConfig = {}) {
      // Each client has a connection object, so that late responses go to the client that was dropped.
      const overPGlite: ClientConfig & { connection: unknown } = {
        ...config,
        connection: createConnection(wire),
      };
      super(overPGlite);
      // An engine that fails rejects all statements; an `error` event without a listener would also end the process.
      this.on('error', () => undefined);
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | void {
      if (callback === undefined) return this.#open();
      callbackify(() => this.#open())(callback);
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      const ended = super.end();
      previousEnded = Promise.all([previousEnded, ended]);
      if (callback === undefined) return ended;
      callbackify(() => ended)(callback);
    }

    /** Waits for the statements of the connection before, then resets the session. */
    async #open(): Promise<this> {
      await previousEnded;
      await super.connect();
      await this.query('rollback');
      await this.query('discard all');
      return this;
    }
  }

  return new Pool({ max: 1, idleTimeoutMillis: 0, Client: EmbeddedClient });
}

type BindConfig = { values?: unknown[]; valueMapper?: (value: unknown, index: number) => unknown };
type Connection = { bind(config: BindConfig): void; end(): void; on(event: 'error', listener: () => void): void };

/**
 * Values are checked before PGlite serialises them. After a value that cannot be sent it would put the bytes already written before
 * those of the next statement, and it miscounts the bytes of half a surrogate pair, which shifts the values that follow.
 */
function createConnection(wire: Wire): Connection {
  const connection = createPgConfig(wire as PGlite).connection as Connection;
  const bind = connection.bind.bind(connection);
  connection.bind = ({ values = [], valueMapper = (value) => value, ...config }) => {
    const ready = values.map((value, index) => {
      const mapped = valueMapper(value, index);
      if (typeof mapped !== 'string') return mapped;
      if (isNestedTooDeeply(mapped)) throw new StatementTooComplex();
      return mapped.toWellFormed();
    });
    bind({ ...config, values: ready });
  };
  const end = connection.end.bind(connection);
  connection.end = () => {
    end();
    // `end` has removed all listeners, and an `error` event without a listener ends the process.
    connection.on('error', () => undefined);
  };
  return connection;
}

class StatementTooComplex extends Error {
  readonly code = TOO_COMPLEX;

  constructor() {
    super(`a value is nested more than ${NESTING_MAX} levels deep`);
  }
}

/** Whether PostgreSQL's parser would recurse too deeply if `text` were parsed as JSON, well formed or not. */
function isNestedTooDeeply(text: string): boolean {
  if (text.length <= NESTING_MAX || !/^\s*[[{]/.test(text)) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') inString = false;
    } else if (char === '"') {
      inString = true;
    } else if (char === '[' || char === '{') {
      if (++depth > NESTING_MAX) return true;
    } else if (char === ']' || char === '}') {
      depth--;
    }
  }
  return false;
}

/** The part of the engine that a connection uses. It yields to other work, and explains errors of a full disk. */
function createWire(engine: PGlite, dir: string): Wire {
  let yieldedAt = performance.now();
  return {
    waitReady: engine.waitReady,
    execProtocolStream: async (message, options) => {
      if (performance.now() - yieldedAt > YIELD_AFTER_MS) {
        await setImmediate();
        yieldedAt = performance.now();
      }
      const answers = await engine.execProtocolStream(message, options);
      for (const answer of answers) {
        if ('code' in answer && answer.code === DISK_FULL && answer instanceof Error) {
          answer.message += ` (the disk that holds ${dir} is full: free some space, nothing of this statement was stored)`;
        }
      }
      return answers;
    },
  };
}
