// Shortens addresses and ids for display.

/** Shortens an address to the form `0x6ea0…b41e`. An address of at most 14 characters is not shortened. */
export function shortAddress(address: string): string {
  return address.length <= 14 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Returns the id in the form `#249`. A long id is shortened in the middle. */
export function shortTokenId(id: string): string {
  return id.length <= 12 ? `#${id}` : `#${id.slice(0, 5)}…${id.slice(-4)}`;
}
