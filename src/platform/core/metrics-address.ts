// The address on which metrics are served: a host and port, or the path of a Unix socket.

import { parseInteger } from './setting.ts';

export type MetricsAddress = { host: string; port: number } | { path: string };

const HOST_AND_PORT = /^(\[[\da-fA-F:.]+\]|[A-Za-z0-9._-]{1,253}):(\d{1,5})$/;

/** Null for empty text: no metrics are served. Undefined for text of another form. */
export function parseMetricsAddress(text: string): MetricsAddress | null | undefined {
  if (text === '') return null;
  if (text.includes('/')) return text.includes('\0') ? undefined : { path: text };
  const [, host = '', portText = ''] = HOST_AND_PORT.exec(text) ?? [];
  const port = parseInteger(portText, 1, 65_535);
  return port === undefined ? undefined : { host: host.replace(/^\[|\]$/g, ''), port };
}

/** The address of one of several serving processes. The first has the address itself, each further one the next port or a path of its own. */
export function toAddressOf(address: MetricsAddress | null, process: number): MetricsAddress | null {
  if (address === null || process === 1) return address;
  return 'path' in address
    ? { path: `${address.path}.${process}` }
    : { host: address.host, port: address.port + process - 1 };
}
