// Defines settings and tables of settings. Several tables share the parsers and the kinds of settings in this file.

export type Setting<V> = {
  /**
   * The environment variable. If the name contains `<CHAIN>`, each chain has its own variable: the chain's id in upper case replaces
   * `<CHAIN>`.
   */
  readonly name: string;
  readonly default: string;
  /** What the text must be, in words that follow "must be" in error messages and on the settings page. */
  readonly form: string;
  readonly meaning: string;
  /** A secret value is never printed. */
  readonly secret?: boolean;
  /** Returns undefined when the text does not have the form that `form` describes. */
  readonly parse: (text: string) => V | undefined;
};

export type SettingTable<S> = { readonly [K in keyof S]: Setting<S[K]> };

/** May be called only after the texts of all settings have been validated. */
export type ValueOf = <V>(setting: Setting<V>) => V;

export function readSettings<S extends object>(table: SettingTable<S>, valueOf: ValueOf): S {
  const values: Partial<S> = {};
  for (const key in table) values[key] = valueOf(table[key]);
  // The table has a setting for each field of S.
  return values as S;
}

/** An http or https URL without user, query and fragment. */
export function urlSetting(row: Pick<Setting<string>, 'name' | 'default' | 'meaning'>): Setting<string> {
  return { ...row, form: 'an http or https URL', parse: (text) => parseHttpUrl(text) };
}

/** An http or https URL that may contain a key; null by default. */
export function secretUrlSetting(row: Pick<Setting<string>, 'name' | 'meaning'>): Setting<string | null> {
  return {
    ...row,
    default: '',
    form: 'an http or https URL',
    secret: true,
    parse: (text) => (text === '' ? null : parseHttpUrl(text, { bare: false })),
  };
}

/** A key or token that is sent in a header; null by default. */
export function keySetting(row: Pick<Setting<string>, 'name' | 'meaning'> & { form?: string }): Setting<string | null> {
  return { form: 'a key', ...row, default: '', secret: true, parse: parseToken };
}

export function parseInteger(text: string, min: number, max: number): number | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}

export function parseFlag(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/**
 * By default a URL with a user, query or fragment is rejected, and trailing slashes are removed. With `bare: false` the text of any http or
 * https URL is returned unchanged.
 */
export function parseHttpUrl(text: string, { bare = true }: { bare?: boolean } = {}): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (!bare) return text;
  if (url.username || url.password || url.search || url.hash) return undefined;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Accepts a redis or rediss URL with a host, and optionally a user, password, port and database number. Null for empty text. */
export function parseRedisUrl(text: string): string | null | undefined {
  if (text === '') return null;
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== 'redis:' && protocol !== 'rediss:') return undefined;
  // `URL` does not check the host of a redis or rediss URL.
  if (!/^([\w.-]{1,253}|\[[\da-fA-F:.]+\])$/.test(hostname) || search || hash) return undefined;
  const canBeDecoded = [username, password].every((part) => !/%(?![\da-fA-F]{2})/.test(part));
  return canBeDecoded && /^(\/\d{0,5})?$/.test(pathname) ? text : undefined;
}

/** 1 to 1,000 visible ASCII characters. Null for empty text. */
function parseToken(text: string): string | null | undefined {
  if (text === '') return null;
  return /^[\x21-\x7e]{1,1000}$/.test(text) ? text : undefined;
}

export function splitList(text: string): string[] {
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}
