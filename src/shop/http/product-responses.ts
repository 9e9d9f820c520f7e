// The responses with a product and with a page of products. Each is serialised once, and kept for as long as its product or page is cached.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENCODED_BYTES_MIN, EncodedBodies, chooseCoding } from '../../http/content-coding.ts';
import type { Product, ProductSummary } from '../products/product.ts';
import type { ProductPage } from '../products/product-reads.ts';
import { toProductSummaryView, toProductView } from '../products/product-view.ts';
import { toEtag } from './etags.ts';
import type { WireProduct, WireProductSummary } from './product-schemas.ts';

type PreparedResponse = {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Null if the response is never encoded. */
  encoded: EncodedBodies | null;
};

const JSON_TYPE = 'application/json; charset=utf-8';

// The JSON of products is built in product-view.ts. With these declarations, the compiler checks that it matches the schemas.
export const toWireProduct: (product: Product) => WireProduct = toProductView;
const toWireSummary: (product: ProductSummary) => WireProductSummary = toProductSummaryView;

const productResponses = new WeakMap<Product, PreparedResponse>();
const pageResponses = new WeakMap<ProductPage, PreparedResponse>();
const summaryTexts = new WeakMap<ProductSummary, string>();

/** Sends a product. The response is not encoded, because its strong ETag names the bytes before encoding. */
export function sendProduct(request: FastifyRequest, reply: FastifyReply, product: Product): FastifyReply {
  const response = once(productResponses, product, () => ({
    ...toPrepared(JSON.stringify({ data: toWireProduct(product) }), { etag: toEtag(product) }),
    encoded: null,
  }));
  return send(request, reply, response);
}

export function sendProductPage(request: FastifyRequest, reply: FastifyReply, page: ProductPage): FastifyReply {
  return send(
    request,
    reply,
    once(pageResponses, page, () => toPageResponse(page)),
  );
}

function toPageResponse({ products, next }: ProductPage): PreparedResponse {
  const texts = products.map((product) => once(summaryTexts, product, () => JSON.stringify(toWireSummary(product))));
  const pagination = { hasMore: next !== null, nextCursor: next, count: products.length };
  const text = `{"data":[${texts.join(',')}],"pagination":${JSON.stringify(pagination)}}`;
  if (text.length < ENCODED_BYTES_MIN) return { ...toPrepared(text, {}), encoded: null };
  const response = toPrepared(text, { vary: 'Accept-Encoding' });
  return { ...response, encoded: new EncodedBodies(response.body) };
}

function toPrepared(text: string, headers: Record<string, string>): Omit<PreparedResponse, 'encoded'> {
  const body = Buffer.from(text);
  const size = String(body.length);
  return {
    headers: { 'cache-control': 'no-store', ...headers, 'content-type': JSON_TYPE, 'content-length': size },
    body,
  };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, body, encoded }: PreparedResponse,
): FastifyReply {
  // The response is written without the framework, because the framework would need more time to send it than the rest of the request takes.
  reply.hijack();
  const write = (content: Buffer, more: Readonly<Record<string, string>> = {}) => {
    reply.raw.writeHead(200, { ...headers, ...more }).end(request.method === 'HEAD' ? undefined : content);
  };
  const coding = encoded && chooseCoding(request.headers['accept-encoding']);
  if (!encoded || !coding) write(body);
  else {
    const writeEncoded = (content: Buffer) =>
      write(content, { 'content-length': String(content.length), 'content-encoding': coding });
    const content = encoded.get(coding);
    if (content instanceof Promise) void content.then(writeEncoded, () => write(body));
    else writeEncoded(content);
  }
  return reply;
}

function once<Key extends object, Value>(made: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  let value = made.get(key);
  if (value === undefined) {
    value = make();
    made.set(key, value);
  }
  return value;
}
