// How many blocks an endpoint is asked for at once: halved when it refuses or fails, grown slowly when it answers, and kept
// under the size that it refused last until it has answered many times.

const SIZE_START = 1_000;
const SIZE_MAX = 10_000;
const GROWTH = 1.25;
/** Answers in a row at the ceiling after which it is lifted: limits on results depend on how much happened in the blocks. */
const ANSWERS_TO_LIFT = 50;

export type RangeSize = {
  now(): number;
  grow(asked: number): void;
  /** `asked` blocks were refused: that many are not asked for again soon. */
  refuse(asked: number): void;
  /** `asked` blocks failed, which may or may not be for their number. */
  shrink(asked: number): void;
};

export function createRangeSize(start = SIZE_START): RangeSize {
  let size = start;
  let ceiling = SIZE_MAX;
  let answers = 0;
  const halve = (asked: number) => {
    size = Math.max(1, Math.min(size, asked >> 1));
    answers = 0;
  };
  return {
    now: () => size,
    grow: (asked) => {
      // A short range at the end of what is wanted says nothing about longer ones.
      if (asked < size) return;
      answers += 1;
      if (answers >= ANSWERS_TO_LIFT) {
        ceiling = SIZE_MAX;
        answers = 0;
      }
      size = Math.min(ceiling, Math.max(size + 1, Math.floor(size * GROWTH)));
    },
    refuse: (asked) => {
      ceiling = Math.max(1, asked - 1);
      halve(asked);
    },
    shrink: halve,
  };
}
