// Splits the URL of an endpoint into the parts that requests need and the parts that logs may show. User, password, path and query
// may be secrets.

export type EndpointUrl = {
  /** Without user and password, because `fetch` rejects a URL that contains them. */
  url: string;
  /** Host and port. */
  host: string;
  headers: Readonly<Record<string, string>>;
  /** Replaces the secrets of the URL in a text. */
  redact: (text: string) => string;
};

/** A part of the path or the query with fewer characters, such as `v2` or `mainnet`, is not treated as a secret. */
const SECRET_LENGTH_MIN = 8;

export function parseEndpointUrl(text: string): EndpointUrl {
  const url = new URL(text);
  const { username, password } = url;
  const credentials = [username, password].filter(Boolean);
  const basic = Buffer.from(`${decodePercent(username)}:${decodePercent(password)}`).toString('base64');
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()];
  url.username = '';
  url.password = '';
  return {
    url: url.href,
    host: url.host,
    headers: {
      'content-type': 'application/json',
      ...(credentials.length > 0 && { authorization: `Basic ${basic}` }),
    },
    redact: createRedaction([
      ...credentials.flatMap((credential) => [credential, decodePercent(credential)]),
      ...(credentials.length > 0 ? [basic] : []),
      ...parts.filter((part) => part.length >= SECRET_LENGTH_MIN),
    ]),
  };
}

/** Text in which a `%` begins no valid sequence is returned as it is: `URL` accepts such text too. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Long secrets are replaced wherever they occur. Short secrets are replaced as whole words, because they may be parts of other words. */
function createRedaction(secrets: readonly string[]): (text: string) => string {
  const patterns = secrets
    .toSorted((a, b) => b.length - a.length)
    .map((secret) => {
      const literal = RegExp.escape(secret);
      return new RegExp(
        secret.length >= SECRET_LENGTH_MIN ? literal : `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`,
        'gu',
      );
    });
  return (text) => patterns.reduce((redacted, pattern) => redacted.replaceAll(pattern, '…'), text);
}
