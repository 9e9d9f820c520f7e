// Compresses responses that are made for one request. Cached responses are encoded once for all requests (cached-response.ts).

import type { FastifyInstance, FastifyReply } from 'fastify';
import { ENCODED_BYTES_MIN, chooseCoding, encode } from './content-coding.ts';

/**
 * Encodes JSON in responses to GET and HEAD. Responses to other methods are not encoded, because they may contain both a secret and text
 * that the caller has chosen (docs/decisions/0011-compression.md). Responses with a strong ETag are not encoded, because such an ETag identifies
 * the bytes before the encoding.
 */
export function compressResponses(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if ((request.method !== 'GET' && request.method !== 'HEAD') || !isCompressible(reply, payload)) return payload;
    reply.header('vary', [reply.getHeader('vary') ?? [], 'Accept-Encoding'].flat().join(', '));
    const coding = chooseCoding(request.headers['accept-encoding']);
    if (coding === null) return payload;
    const encoded = await encode(Buffer.from(payload), coding);
    reply.header('content-encoding', coding).header('content-length', encoded.length);
    return encoded;
  });
}

function isCompressible(reply: FastifyReply, payload: unknown): payload is string {
  if (typeof payload !== 'string' || payload.length < ENCODED_BYTES_MIN || reply.statusCode !== 200) return false;
  const etag = reply.getHeader('etag');
  return (
    String(reply.getHeader('content-type')).startsWith('application/json') &&
    reply.getHeader('content-encoding') === undefined &&
    (etag === undefined || String(etag).startsWith('W/'))
  );
}
