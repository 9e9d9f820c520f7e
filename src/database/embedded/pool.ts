// A `pg` pool of one connection over the embedded engine. PGlite has one session for all connections. A new connection therefore waits
// until the statements of the previous connection have ended, and then resets the session.

import { setImmediate } from 'node:timers/promises';
import { callbackify } from 'node:util';
import type { PGlite } from '@electric-sql/pglite';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import type { ClientConfig } from 'pg';
import { Client, Pool } from 'pg';

/** The SQLSTATE `disk_full`. It is an ordinary error: the statement has changed nothing, and the engine continues. */
const DISK_FULL = '53100';

/**
 * After this time statements pause for the event loop. PGlite never returns to the event loop by itself, so a loop of statements would
 * block all other work.
 */
const YIELD_AFTER_MS = 10;

/** The SQLSTATE `statement_too_complex`. */
const TOO_COMPLEX = '54001';

/**
 * The deepest nesting of a value that is accepted. PostgreSQL's JSON parser is recursive, and its check of the stack depth does not work
 * in this process: at about 6,000 levels the parser overflows the stack.
 */
const NESTING_MAX = 2_000;

type Wire = Pick<PGlite, 'execProtocolStream' | 'waitReady'>;

/** Creates the pool. Ending the pool does not end the engine. `dir` is used in error messages only. */
export function createEmbeddedPool(engine: PGlite, dir: string): Pool {
  const wire = createWire(engine, dir);
  let previousEnded: Promise<unknown> = Promise.resolve();

  class EmbeddedClient extends Client {
    constructor(config: ClientConfig = {}) {
      // Each client has a connection object of its own, so that late responses go to the client that was dropped, not to the next client.
      const overPGlite: ClientConfig & { connection: unknown } = {
        ...config,
        connection: createConnection(wire),
      };
      super(overPGlite);
      // When the engine fails, all statements reject. Without a listener, the `error` event would also end the process.
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

    /** Waits until the statements of the previous connection have ended, then resets the session. */
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
 * Creates a connection that checks values before PGlite serialises them. When PGlite fails on a value, it keeps the bytes that it has
 * written and sends them before the next statement. It also miscounts the bytes of half a surrogate pair, which corrupts the
 * values that follow.
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
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (inString) {
      if (char === '\\') index++;
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

/** The part of the engine that a connection uses. It yields to the event loop, and adds the directory to errors about a full disk. */
function createWire(engine: PGlite, dir: string): Wire {
  let yieldedAt = performance.now();
  return {
    waitReady: engine.waitReady,
    execProtocolStream: async (message, options) => {
      if (performance.now() - yieldedAt > YIELD_AFTER_MS) {
        await setImmediate();
        yieldedAt = performance.now();
      }
      const responses = await engine.execProtocolStream(message, options);
      for (const response of responses) {
        if ('code' in response && response.code === DISK_FULL && response instanceof Error) {
          response.message += ` (the disk that holds ${dir} is full: free some space, nothing of this statement was stored)`;
        }
      }
      return responses;
    },
  };
}
