// The name of a shop, by which commands refer to it.

import { OperatorError } from '../platform/core/errors.ts';
import { countCharacters, isStorable } from '../platform/core/text.ts';

const SHOP_NAME_LENGTH_MAX = 160;

/** Removes white space at both ends. Throws OperatorError if the name is empty, too long or cannot be stored. */
export function parseShopName(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '' || countCharacters(trimmed) > SHOP_NAME_LENGTH_MAX || !isStorable(trimmed)) {
    throw new OperatorError(`the name of a shop must have 1 to ${SHOP_NAME_LENGTH_MAX} characters`, { exitCode: 2 });
  }
  return trimmed;
}
