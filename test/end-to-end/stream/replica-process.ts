// The example `local-replica` in a process of its own, which a test can kill. The test reads the SQLite file of the replica.

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { TcpProxy } from '../../support/engines/tcp-proxy.ts';
import { startTcpProxy } from '../../support/engines/tcp-proxy.ts';
import { programEnvironment } from '../../support/program-environment.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { CopiedCollection, Rows } from './market-copy.ts';

const EXAMPLE = fileURLToPath(new URL('../../../client/examples/local-replica.ts', import.meta.url));

/** The tables of the replica in the form of the rows that the interfaces serve. `/v1` has no sale without a price, and none of several tokens. */
const QUERIES: Readonly<Record<string, string>> = {
  orders: `select concat_ws(' ', collection, token, id, price, seller, coalesce(units, 'unknown')) as row from "order"`,
  owners: `select concat_ws(' ', owner.collection, token, account) as row from owner join collection on collection.id = owner.collection where is_edition = 0`,
  balances: `select concat_ws(' ', owner.collection, token, account, units) as row from owner join collection on collection.id = owner.collection where is_edition = 1`,
  sales: `select concat_ws(' ', collection, token, tx, total, seller, buyer) as row from sale where token is not null and total is not null`,
  'all sales': `select concat_ws(' ', id, collection, token, tx, total, seller, buyer) as row from sale where id not like 'past %'`,
  floors: `select concat_ws(' ', id, coalesce(floor, 'null')) as row from collection`,
  unread: `select concat_ws(' ', collection, token) as row from unread`,
};

export class ReplicaProcess {
  readonly proxy: TcpProxy;
  readonly #file = path.join(temporaryDirectory(), 'replica.sqlite');
  readonly #args: readonly string[];
  #process: ChildProcess;
  #isKilled = false;
  /** The exit codes of the processes that ended without being killed. */
  readonly crashes: (number | null)[] = [];

  private constructor(proxy: TcpProxy, collections: readonly CopiedCollection[]) {
    this.proxy = proxy;
    const names = collections.map(({ id, standard }) => (standard === 'erc1155' ? `--edition=${id}` : id));
    this.#args = [EXAMPLE, proxy.url, this.#file, ...names];
    this.#process = this.#spawn();
  }

  /** `node`: the URL of the service. Another one can be given to `proxy.retarget`. */
  static async start(node: string, collections: readonly CopiedCollection[]): Promise<ReplicaProcess> {
    return new ReplicaProcess(await startTcpProxy(node), collections);
  }

  /** Kills the process with SIGKILL, does the work, and starts the process again. */
  async without(work: () => Promise<void>): Promise<void> {
    await this.#kill();
    await work();
    this.#process = this.#spawn();
  }

  /** Null while the replica has no complete copy. */
  rows(): Rows | null {
    if (!existsSync(this.#file)) return null;
    const database = new DatabaseSync(this.#file);
    try {
      database.exec('begin');
      const tables = database.prepare(`select 1 from sqlite_master where name = 'unread'`).all();
      if (tables.length === 0 || database.prepare('select 1 from position').all().length === 0) return null;
      return Object.fromEntries(
        Object.entries(QUERIES).map(([name, sql]) => [
          name,
          database
            .prepare(sql)
            .all()
            .map(({ row }) => String(row)),
        ]),
      );
    } finally {
      database.close();
    }
  }

  async stop(): Promise<void> {
    await this.#kill();
    await this.proxy.close();
  }

  #spawn(): ChildProcess {
    this.#isKilled = false;
    const child = spawn(process.execPath, this.#args, {
      env: programEnvironment(),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.once('exit', (code) => {
      if (!this.#isKilled) this.crashes.push(code);
    });
    return child;
  }

  async #kill(): Promise<void> {
    this.#isKilled = true;
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
