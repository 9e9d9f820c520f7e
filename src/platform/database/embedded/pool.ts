// A `pg` pool of one connection to the embedded engine. PGlite has one session for all connections. So a new connection first waits for the
// statements of the previous connection, and then resets the session.

import { callbackify } from 'node:util';
import type { PGlite } from '@electric-sql/pglite';
import type { ClientConfig } from 'pg';
import { Client, Pool } from 'pg';
import type { EngineInUse } from './connection.ts';
import { EmbeddedConnection } from './connection.ts';

/** Creates the pool. Ending the pool does not end the engine. `dir` is only used in error messages. */
export function createEmbeddedPool(engine: PGlite, dir: string): Pool {
  const inUse: EngineInUse = { engine, yieldedAt: performance.now() };
  let previousEnded: Promise<unknown> = Promise.resolve();

  class EmbeddedClient extends Client {
    constructor(config: ClientConfig = {}) {
      // Each client has its own connection object, so that late responses of a dropped client do not reach the next client.
      const overEngine: ClientConfig & { connection: unknown } = {
        ...config,
        connection: new EmbeddedConnection(inUse, dir),
      };
      super(overEngine);
      // If the engine fails, all statements reject. Without a listener, the `error` event would also end the process.
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
