// The server that the checks of a replica have reached. Its reads must use the same server: the URL could name several servers, or lead to
// another server than before.

import type { QueryConfig } from 'pg';
import { rowDecoder, text } from '../rows.ts';

/** The start time differs between servers. The address does not serve, because a server can have several. */
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

  /** Notes the server of a check. Returns whether it is another one than that of the last check. */
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
