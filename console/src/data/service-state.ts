// The types of the response of GET /status. They are written by hand, because GET /status has no OpenAPI document.

export type DatabaseState = { engine: string; answers: boolean; latencyMs: number | null };

export type ChainState = {
  chain: string;
  mode: string;
  block: number | null;
  blockTime: string | null;
  headDistance: number | null;
  reorganisations: number;
  note: string | null;
  collections: { live: number; catchingUp: number };
  comparison: { compared: string; disputed: { kind: string; block: number; since: string } | null } | null;
  endpoints: readonly { position: number; state: string; lag: number | null; failures: number }[];
};

export type SourceState = {
  name: string;
  breaker: string;
  budget: { perHour: number; left: number } | null;
  requests: number;
  retries: number;
  refused: number;
  lastFailure: string | null;
};

export type TaskState = {
  name: string;
  state: string;
  periodSeconds: number;
  lastSuccess: string | null;
  failures: number;
  rows: { read: number; changed: number; refused: number };
  upstreams: readonly SourceState[];
};

export type MetadataState = {
  collectionId: string;
  tokens: number;
  waiting: number;
  failed: number;
  reasons: readonly string[];
};

/** A chain on which the service offers trading. */
export type TradingChain = {
  chain: string;
  chainId: number;
  currency: string;
  decimals: number;
  /** The contract of the wrapped native currency, in which bids are paid. Null if none is known on the chain. */
  wrappedNative: string | null;
  /**
   * The hash of the chain's first block. The console compares it with the first block of the wallet's chain, because different chains may
   * have the same id.
   */
  firstBlock: string;
  seaport: { address: string; version: string };
};

export type WebhookQueue = { pending: number; due: number; events: number; oldestDueAgeSeconds: number };

/** A section that cannot be read is null, and named in `unavailable`. */
export type ServiceState = {
  at: string;
  databases: Readonly<Record<string, DatabaseState>> | null;
  /** Absent if the service does not use Redis. */
  rateLimits?: { counted: string } | null;
  chains: readonly ChainState[] | null;
  tasks: readonly TaskState[] | null;
  metadata?: readonly MetadataState[] | null;
  /** Absent if the service offers no trading. */
  trading?: readonly TradingChain[] | null;
  webhooks?: WebhookQueue | null;
  version?: string | null;
  unavailable: readonly string[];
};
