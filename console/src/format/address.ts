// Shortens addresses and ids for display.

/** `0x6ea0…b41e`. A text that is hardly longer than its short form stays as it is. */
export function shortAddress(address: string): string {
  return address.length <= 14 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** `#249`. A long id is shortened in the middle. */
export function shortTokenId(id: string): string {
  return id.length <= 12 ? `#${id}` : `#${id.slice(0, 5)}…${id.slice(-4)}`;
}
