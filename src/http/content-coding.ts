// Content codings (compression) of responses: which coding a client gets, and the encoded bodies of a response that many clients get.

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';

export type ContentCoding = 'br' | 'zstd' | 'gzip';

/** Smaller bodies are not encoded: they fit into one packet anyway. */
export const ENCODED_BYTES_MIN = 1_024;
/** The codings in the order of preference of this service, which decides when the client accepts several codings equally. */
const CODINGS: readonly ContentCoding[] = ['br', 'zstd', 'gzip'];
/** How many values of `Accept-Encoding` are remembered. Clients send few different values, but an attacker could send many. */
const REMEMBERED_MAX = 200;
/** Gives smaller results than gzip in about the same time. The default, 11, takes a hundred times as long. */
const BROTLI_QUALITY = 5;

const ENCODERS: Readonly<Record<ContentCoding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      },
    }),
  zstd: promisify(zstdCompress),
  gzip: promisify(gzip),
};

/** Encodes outside the event loop. */
export async function encode(body: Buffer, coding: ContentCoding): Promise<Buffer> {
  const encoded = await ENCODERS[coding](body);
  // The result is a view of a much larger buffer, which would stay in memory with it.
  const copy = Buffer.allocUnsafeSlow(encoded.length);
  encoded.copy(copy);
  return copy;
}

const remembered = new Map<string, ContentCoding | null>();

/**
 * The coding that a client prefers by its `Accept-Encoding` (RFC 9110, section 12.5.3). Null when the body is to be sent as it is. A
 * coding has to be named: `*` alone selects none.
 */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | null {
  if (acceptEncoding === undefined) return null;
  const known = remembered.get(acceptEncoding);
  if (known !== undefined) return known;
  const chosen = parsePreference(acceptEncoding, CODINGS);
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(acceptEncoding, chosen);
  return chosen;
}

const ELEMENT = /^([\w-]+)(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/** Whether a client accepts a coding, for a body that is available in this coding only. */
export function acceptsCoding(acceptEncoding: string | undefined, coding: ContentCoding): boolean {
  return acceptEncoding !== undefined && parsePreference(acceptEncoding, [coding]) === coding;
}

function parsePreference(acceptEncoding: string, codings: readonly ContentCoding[]): ContentCoding | null {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.split(',')) {
    const [, name = '', weight = '1'] = ELEMENT.exec(element.trim()) ?? [];
    weights.set(name.toLowerCase(), Number(weight));
  }
  let best: ContentCoding | null = null;
  let bestWeight = 0;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? 0;
    if (weight > bestWeight) [best, bestWeight] = [coding, weight];
  }
  return bestWeight < (weights.get('identity') ?? 0) ? null : best;
}

/** The encoded bodies of one response. Each body is encoded once, when a client first asks for its coding. */
export class EncodedBodies {
  readonly #plain: Buffer;
  readonly #bodies = new Map<ContentCoding, Buffer | Promise<Buffer>>();

  constructor(plain: Buffer) {
    this.#plain = plain;
  }

  /** A promise while the body is being encoded. A body that cannot be encoded is tried again at the next call. */
  get(coding: ContentCoding): Buffer | Promise<Buffer> {
    const body = this.#bodies.get(coding);
    if (body !== undefined) return body;
    const encoding = encode(this.#plain, coding).then((encoded) => {
      this.#bodies.set(coding, encoded);
      return encoded;
    });
    encoding.catch(() => this.#bodies.delete(coding));
    this.#bodies.set(coding, encoding);
    return encoding;
  }
}
