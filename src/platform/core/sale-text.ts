// Reads what the text of a reported sale says about its currency and its accounts. The expressions are used in JavaScript and, by their source, in
// SQL. So they contain only what both understand in the same way.

/**
 * The price of a sale in a known currency that is not the native currency of the chain: an amount and the symbol or address of its currency, as in
 * `7000000 USDC`, or a payment that was read from a chain, as in `5 native and 7000000 of 0x…`. The name of a token standard names no
 * currency.
 */
export const OTHER_CURRENCY =
  /^(?:\d[\d.,]*(?:e[+-]?\d+)? (?:0x[0-9a-f]{40}|(?!(?:erc-?\d+|spl|token|unknown|undefined|null|none|nan|n[/]a)$)[a-z$€£¥][^ ()]{0,40})$|\d+(?: native and \d+)? of 0x[0-9a-f]{40})/i;

/** The zero address, also without its leading zeros: a source that reports it as the seller or the buyer of a sale does not know the account. */
export const UNKNOWN_ACCOUNT = /^(?:0x0+|1{32})$/;

/** Null for the zero address. */
export function toKnownAccount<A extends string>(account: A | null): A | null {
  return account === null || UNKNOWN_ACCOUNT.test(account) ? null : account;
}
