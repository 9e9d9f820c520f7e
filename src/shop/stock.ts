// Stock: whole numbers that never go below zero, and the level whose downward crossing is news.

/** Stock, adjustments and sets are 32-bit integers. */
export const STOCK_MAX = 2 ** 31 - 1;

/** `inventory.low` fires when tracked stock goes from above this level to it or below. Not the `threshold` of a read. */
export const LOW_STOCK_LEVEL = 10;

export const LOW_STOCK_THRESHOLD = 10;
