// The name under which the console shows a token.

import { shortAddress, shortTokenId } from '../format/address.ts';
import { toVisibleName } from '../format/strangers-text.ts';

type Named = { name: string | null; tokenId: string | null; mint: string | null };

/** The name in the record of the token, or else its id. */
export function tokenName({ name, tokenId, mint }: Named): string {
  return toVisibleName(name) ?? (tokenId === null ? shortAddress(mint ?? '') : shortTokenId(tokenId));
}
