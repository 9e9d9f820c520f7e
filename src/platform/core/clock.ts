// Time as a value that is passed in, so that expiry, freshness and windows can be tested without sleeping.

/** Milliseconds since the epoch. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
