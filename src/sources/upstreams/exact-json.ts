// Strict parsing of upstream responses: limited depth, valid UTF-8, and every number as its literal text, because a double would round
// large numbers.

import { parseJsonText } from '../../platform/core/json-text.ts';

const DEPTH_MAX = 32;

/** Throws for a body that is not UTF-8, is not JSON, or is nested deeper than DEPTH_MAX. */
export function parseExactJson(body: Uint8Array): unknown {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  if (measureDepth(text) > DEPTH_MAX) throw new SyntaxError('nested too deep');
  return parseJsonText(text);
}

/** The depth is measured before parsing, because deep nesting would exhaust the stack of the parser. */
function measureDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (quoted) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) deepest = Math.max(deepest, (depth += 1));
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
