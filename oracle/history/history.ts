// What the clients of a shop have seen: each request with its result, and the times between which it was made. Times are in milliseconds of the clock of
// the machine, on which the database runs too, rounded so that the true time is between `call` and `end`.

export type Interval = { call: number; end: number };

export type Item = { product: string; quantity: number };

export type ItemState = Item & { held: number; consumed: number };

/** A reservation as a response or an event states it. */
export type ReservationState = { id: string; status: string; expiresAt: number; items: ItemState[] };

/** A change of stock. `result`: the change and the id of its entry in the log, or the level for which it was refused. Null: refused for another reason. */
export type Change = Interval & {
  kind: 'change';
  product: string;
  mode: 'adjustment' | 'set';
  requested: number;
  clamp: boolean;
  expected: number | null;
  result: { previous: number; next: number; entry: string } | { level: number } | null;
};

/** `result`: the reservation, or the levels of the products of which the stock was not sufficient. */
export type Reserve = Interval & {
  kind: 'reserve';
  items: Item[];
  expiresInMs: number;
  result: ReservationState | { short: { product: string; level: number }[] };
};

/** A change of a reservation. `result`: the reservation after it, or the status for which it was refused (`less`: more than it holds). */
export type End = Interval & {
  kind: 'consume' | 'release' | 'extend';
  id: string;
  /** Of a consumption: the part, or null for all. */
  items: Item[] | null;
  keepsRest: boolean;
  expiresInMs: number;
  result: ReservationState | { refusedAs: string };
};

export type Read = Interval & { kind: 'read'; product: string; inventory: number; reserved: number };

export type Operation = Change | Reserve | End | Read;

/** An entry of the log of stock, as the feed of changes has it. */
export type LogEntry = {
  id: string;
  product: string;
  previous: number;
  next: number;
  source: string;
  reservation: string | null;
  at: number;
};

export type History = {
  products: { id: string; inventory: number }[];
  operations: Operation[];
  /** When the service or its database was down. */
  downtimes: { from: number; until: number }[];
  /** From the end of the run, after all reservations have ended: the log, oldest first, and the last event of each reservation. */
  log: LogEntry[];
  reservations: ReservationState[];
  /** How late an expired reservation may return its stock while the service runs. */
  lateMs: number;
};
