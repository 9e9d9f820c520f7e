// A random source with a seed: the same seed draws the same numbers, so that a run can be repeated.

export type SeededRandom = {
  /** An integer from 0 to `below` - 1. */
  below: (below: number) => number;
  /** True with probability `share`. */
  happens: (share: number) => boolean;
  /** One of the elements. Undefined for an empty list. */
  pick: <T>(from: readonly T[]) => T | undefined;
  /** The elements in a random order. */
  shuffle: <T>(from: readonly T[]) => T[];
  /** An integer of `bits` bits. */
  bits: (bits: number) => bigint;
};

const WORD = 2 ** 32;

/** Creates the generator mulberry32. Its 32 bits of state are enough to choose the actions of a simulation. */
export function createRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const word = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => Math.floor((word() / WORD) * limit);
  return {
    below,
    happens: (share) => word() / WORD < share,
    pick: (from) => from[below(from.length)],
    shuffle: (from) => {
      const drawn = [...from];
      for (let index = drawn.length - 1; index > 0; index -= 1) {
        const other = below(index + 1);
        [drawn[index], drawn[other]] = [drawn[other] as never, drawn[index] as never];
      }
      return drawn;
    },
    bits: (bits) => {
      let value = 0n;
      for (let drawn = 0; drawn < bits; drawn += 32) value = (value << 32n) | BigInt(word());
      return BigInt.asUintN(bits, value);
    },
  };
}
