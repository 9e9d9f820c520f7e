// Reads what a user types in place of a stock: a count, such as 40, or a change, such as +40 or -3.

export type StockChange = { adjustment: number } | { set: number; expected: number };

/** `seen`: the stock that the user sees. A count must not overwrite a change that the user has not seen. Null if the text is neither. */
export function parseStock(text: string, seen: number): StockChange | null {
  const typed = text.trim().replace('−', '-');
  if (/^[+-]\d+$/.test(typed)) return { adjustment: Number(typed) };
  return /^\d+$/.test(typed) ? { set: Number(typed), expected: seen } : null;
}
