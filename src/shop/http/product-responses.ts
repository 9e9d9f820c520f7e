// Makes the responses that contain a product or a page of products. Each response is serialised once, and is kept for as long as its
// product or page is cached.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ENCODED_BYTES_MIN, EncodedBodies, chooseCoding } from '../../platform/http/content-coding.ts';
import type { Product, ProductSummary } from '../products/product.ts';
import type { ProductPage } from '../products/product-reads.ts';
import { toProductSummaryView, toProductView } from '../products/product-view.ts';
import { toEtag } from './etags.ts';
import type { WireProduct, WireProductSummary } from './product-schemas.ts';

/** A response with status 200. In `headers`, each name is followed by its value. */
export type PreparedResponse = {
  headers: readonly string[];
  body: Buffer;
  /** The compressed bodies. Null if the response is never compressed. */
  encoded: EncodedBodies | null;
};

const JSON_TYPE = 'application/json; charset=utf-8';

// The JSON of products is built in product-view.ts. With these declarations, the compiler checks that this JSON matches the schemas.
export const toWireProduct: (product: Product) => WireProduct = toProductView;
const toWireSummary: (product: ProductSummary) => WireProductSummary = toProductSummaryView;

const productResponses = new WeakMap<Product, PreparedResponse>();
const pageResponses = new WeakMap<ProductPage, PreparedResponse>();
const summaryTexts = new WeakMap<ProductSummary, string>();

/** Makes the response that contains a product. It is never compressed, because its strong ETag identifies the uncompressed bytes. */
export function prepareProduct(product: Product): PreparedResponse {
  return once(productResponses, product, () => ({
    ...toPrepared(JSON.stringify({ data: toWireProduct(product) }), ['etag', toEtag(product)]),
    encoded: null,
  }));
}

export function prepareProductPage(page: ProductPage): PreparedResponse {
  return once(pageResponses, page, () => toPageResponse(page));
}

function toPageResponse({ products, next, sequence }: ProductPage): PreparedResponse {
  const texts = products.map((product) => once(summaryTexts, product, () => JSON.stringify(toWireSummary(product))));
  const pagination = { hasMore: next !== null, nextCursor: next, count: products.length };
  const text = `{"data":[${texts.join(',')}],"pagination":${JSON.stringify(pagination)},"meta":{"sequence":${sequence}}}`;
  if (text.length < ENCODED_BYTES_MIN) return { ...toPrepared(text, []), encoded: null };
  const response = toPrepared(text, ['vary', 'Accept-Encoding']);
  return { ...response, encoded: new EncodedBodies(response.body) };
}

function toPrepared(text: string, headers: readonly string[]): Omit<PreparedResponse, 'encoded'> {
  const body = Buffer.from(text);
  const fixed = ['cache-control', 'no-store', ...headers, 'content-type', JSON_TYPE];
  return { headers: [...fixed, 'content-length', String(body.length)], body };
}

/** Writes a response without the framework. In `extraHeaders`, each name is followed by its value. */
export function writePrepared(
  request: IncomingMessage,
  response: ServerResponse,
  { headers, body, encoded }: PreparedResponse,
  extraHeaders: readonly string[] = [],
): void {
  const write = (content: Buffer, all: readonly string[]) => {
    response.writeHead(200, [...all, ...extraHeaders]).end(request.method === 'HEAD' ? undefined : content);
  };
  const coding = encoded && chooseCoding(request.headers['accept-encoding']);
  if (!encoded || !coding) return write(body, headers);
  const writeEncoded = (content: Buffer) =>
    write(content, [...withoutLength(headers), 'content-length', String(content.length), 'content-encoding', coding]);
  const content = encoded.get(coding);
  if (content instanceof Promise) void content.then(writeEncoded, () => write(body, headers));
  else writeEncoded(content);
}

/** Removes `content-length`, which is the last header. */
const withoutLength = (headers: readonly string[]) => headers.slice(0, -2);

function once<Key extends object, Value>(made: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  let value = made.get(key);
  if (value === undefined) {
    value = make();
    made.set(key, value);
  }
  return value;
}
