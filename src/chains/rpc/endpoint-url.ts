// Splits the URL of an endpoint into the parts that requests need and the parts that logs may show. User, password, path and query
// may be secrets.

export type EndpointUrl = {
  /** The URL without user and password, because `fetch` rejects a URL that contains them. */
  url: string;
  /** Host and port. */
  host: string;
  headers: Readonly<Record<string, string>>;
  /** Replaces the secrets of the URL in a text. */
  redact: (text: string) => string;
};

/** Shorter parts of a URL, such as `v2` or `mainnet`, are not treated as secrets. */
const SECRET_LENGTH_MIN = 8;

export function parseEndpointUrl(text: string): EndpointUrl {
  const url = new URL(text);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = '';
  url.password = '';
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  const secrets = [user, password, ...url.pathname.split('/'), ...url.searchParams.values()].filter(
    (part) => part.length >= SECRET_LENGTH_MIN,
  );
  return {
    url: url.href,
    host: url.host,
    headers: { 'content-type': 'application/json', ...(user || password ? { authorization: `Basic ${basic}` } : {}) },
    redact: (message) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '…'), message),
  };
}
