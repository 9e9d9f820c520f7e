// Sends the reads of one database to its replicas or to its primary, which is the server that the replicas copy. A statement that fails on a
// replica is repeated on the primary, so that no request fails because of a replica.

import type { ConnectionLane } from '../connection-lane.ts';
import { DeadlineExceeded } from '../../resilience/deadline.ts';
import type { Database, Row, Statements } from '../port.ts';
import { isOutOfReach } from '../port.ts';
import type { ReadScope } from './read-scope.ts';
import type { Replica } from './replica.ts';
import type { ReplicaSet } from './replica-set.ts';

export type ReplicatedReadsOptions = {
  primary: Pick<Database, 'within'>;
  replicas: ReplicaSet;
  /** When this process most recently noticed a change of the data, by `performance.now()`. Later reads must include this change. */
  changedAt: () => number;
};

/** A statement on a replica gets this share of the remaining time. The rest is for the repetition on the primary. */
const REPLICA_SHARE = 0.5;

type ReadStatements = Pick<Statements, 'query' | 'queryPrepared'>;
type Target = { deadline: number; lane: ConnectionLane; scope: ReadScope };

export class ReplicatedReads {
  readonly #options: ReplicatedReadsOptions;

  constructor(options: ReplicatedReadsOptions) {
    this.#options = options;
  }

  /** Statements that only read, with one deadline `timeoutMs` from now. */
  within(timeoutMs: number, lane: ConnectionLane, scope: ReadScope): ReadStatements {
    const target = { deadline: performance.now() + timeoutMs, lane, scope };
    return {
      query: (sql, params) => this.#read(target, (statements) => statements.query(sql, params)),
      queryPrepared: (sql, params) => this.#read(target, (statements) => statements.queryPrepared(sql, params)),
    };
  }

  async #read<R extends Row>(target: Target, send: (statements: Statements) => Promise<R[]>): Promise<R[]> {
    const { primary, replicas } = this.#options;
    const { deadline, lane } = target;
    const replica = this.#choose(target);
    const found = replica ? await this.#tryReplica(replica, target, send) : 'failed';
    if (typeof found !== 'string') return found;
    const late = found === 'late' ? replica : null;
    try {
      const rows = await send(primary.within(deadline - performance.now(), lane));
      late?.noteMissedDeadline({ isCompletedByPrimary: true });
      return rows;
    } catch (error) {
      late?.noteMissedDeadline({ isCompletedByPrimary: false });
      // The first reads after the loss of the primary fail on the primary. When the loss is confirmed, such a read is repeated on a replica.
      if (!isOutOfReach(error) || performance.now() >= deadline) throw error;
      if (!(await replicas.confirmPrimaryLoss())) throw error;
      const remaining = this.#choose(target);
      const rows = remaining ? await this.#tryReplica(remaining, target, send) : 'failed';
      if (typeof rows !== 'string') return rows;
      if (rows === 'late') remaining?.noteMissedDeadline({ isCompletedByPrimary: false });
      throw error;
    }
  }

  #choose({ scope }: Target): Replica | null {
    return this.#options.replicas.choose(scope, Math.max(scope.notBefore, this.#options.changedAt()));
  }

  /** Returns `late` if the statement missed its deadline on the replica. The caller must then call `noteMissedDeadline`. */
  async #tryReplica<R extends Row>(
    replica: Replica,
    { deadline, lane }: Target,
    send: (statements: Statements) => Promise<R[]>,
  ): Promise<R[] | 'late' | 'failed'> {
    const leftMs = deadline - performance.now();
    const timeoutMs = this.#options.replicas.isPrimaryLost ? leftMs : leftMs * REPLICA_SHARE;
    replica.counts.reads += 1;
    replica.begin();
    try {
      const rows = await send(replica.within(timeoutMs, lane));
      replica.noteSuccess();
      return rows;
    } catch (error) {
      replica.counts.repeated += 1;
      replica.noteFailure(error);
      return error instanceof DeadlineExceeded ? 'late' : 'failed';
    }
  }
}
