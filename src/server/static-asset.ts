// Serves content that changes only with the version of the program. It is sent with an ETag, and compressed if the client accepts gzip.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isNotModified } from '../platform/http/cached-response.ts';
import { acceptsCoding } from '../platform/http/content-coding.ts';

export type StaticAsset = { type: string; plain: Buffer; gzipped: Buffer; etag: string };

const MAX_AGE_S = 3_600;
export const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** `type` is the media type of `content`, without a charset. */
export async function toAsset(type: string, content: string): Promise<StaticAsset> {
  const plain = Buffer.from(content);
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { type, plain, gzipped: await promisify(gzip)(plain), etag };
}

export function sendAsset(asset: StaticAsset, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply.headers({
    ...SECURITY_HEADERS,
    etag: asset.etag,
    vary: 'Accept-Encoding',
    'cache-control': `public, max-age=${MAX_AGE_S}`,
  });
  if (isNotModified(request.headers, asset.etag)) return reply.code(304).send();
  void reply.type(`${asset.type}; charset=utf-8`);
  if (!acceptsCoding(request.headers['accept-encoding'], 'gzip')) return reply.send(asset.plain);
  return reply.header('content-encoding', 'gzip').send(asset.gzipped);
}
