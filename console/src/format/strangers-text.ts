// Prepares texts that strangers have written, such as the names of tokens, for display. Links and requests keep the original texts.

/** Control characters, and characters that change the order in which a browser shows other characters. Line ends and tabs are kept. */
const REORDERING = /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
/** Characters without a width. With them, two different names look alike. Joiners (U+200C, U+200D) are kept: emoji and some scripts need them. */
const INVISIBLE = /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2060-\u2064\u2800\u3164\ufeff\uffa0]/gu;
const REPLACEMENT = '\ufffd';

/** Replaces each reordering character by a visible mark, and removes invisible characters. */
export function toVisible(text: string): string {
  return text.replace(REORDERING, REPLACEMENT).replace(INVISIBLE, '');
}

/** Like `toVisible`. Null if nothing visible is left, so that a link is never without a text. */
export function toVisibleName(name: string | null): string | null {
  const visible = toVisible(name ?? '').trim();
  return /[^\s\u200c\u200d]/u.test(visible) ? visible : null;
}
