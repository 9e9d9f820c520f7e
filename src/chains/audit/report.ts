// What an audit says when it is done. It is sent as JSON to whoever asked for it.

/** Something that is not as it should be: `theirs` is what the chain says, or what a replay of the log came to. */
export type Difference = {
  chain: string;
  /** The block that both sides are of; null where the log is replayed. */
  block: number | null;
  subject: string;
  field: string;
  ours: string;
  theirs: string;
};

export type ChainAudit = {
  chain: string;
  /** The newest block that was looked at, or that the log reaches to; null when none could be. */
  block: number | null;
  /** How many were compared. */
  orders: number;
  tokens: number;
  /** Subjects about which the chain did not answer: neither agreement nor drift. */
  unreadable: number;
  drift: number;
};

export type AuditReport = {
  drift: number;
  orders: number;
  tokens: number;
  unreadable: number;
  chains: ChainAudit[];
  /** The first of them. */
  differences: Difference[];
  /** The same seed chooses the same subjects; null for a replay, which looks at all of them. */
  seed: string | null;
};

/** Of more differences than this only the number is told. */
export const DIFFERENCES_SHOWN_MAX = 1_000;
