// Remembers which server the last check of a replica reached. Reads of the replica must use the same server. The URL alone does not ensure
// this: a URL can name several servers, and a host name can lead to a new server later.

import type { QueryConfig } from 'pg';
import { rowDecoder, text } from '../rows.ts';

/** SQL for the start time of the server. This time identifies a server. An address does not, because one server can have several addresses. */
export const SERVER = `extract(epoch from pg_postmaster_start_time())::text`;

const decodeServer = rowDecoder('server', { server: text });
const TIMEOUT_MS = 2_000;

export class OtherServerError extends Error {
  constructor() {
    super('the connection leads to another server than the connection for checks');
  }
}

type Connection = { query(config: QueryConfig): Promise<{ rows: Record<string, unknown>[] }> };

export class CheckedServer {
  #server: string | null = null;

  /** Stores the server that a check has reached. Returns true unless the previous check reached the same server. */
  note(server: string): boolean {
    const isOther = server !== this.#server;
    this.#server = server;
    return isOther;
  }

  /** Throws OtherServerError if a new connection does not lead to the server of the last check. */
  async verify(connection: Connection): Promise<void> {
    const query = { text: `select ${SERVER} as server`, query_timeout: TIMEOUT_MS };
    const { rows } = await connection.query(query);
    if (!rows[0] || decodeServer(rows[0]).server !== this.#server) throw new OtherServerError();
  }
}
