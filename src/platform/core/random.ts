// Randomness as a value that is passed in, so that jitter and random samples can be tested.

/** A number from 0 up to, but not including, 1. */
export type Random = () => number;

export const systemRandom: Random = Math.random;
