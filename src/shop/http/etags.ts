// Versions of products and webhooks as strong ETags, for callers who want to change only what they have seen.

import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../core/errors.ts';

type Versioned = { version: number };

export function toEtag({ version }: Versioned): string {
  return `"${version}"`;
}

/** A check that refuses what is not the version named by `If-Match`, where the request has one. */
export function matchOf(request: FastifyRequest): (subject: Versioned) => void {
  const header = request.headers['if-match'];
  if (header === undefined) return () => undefined;
  const wanted = header.split(',').map((one) => one.trim());
  return (subject) => {
    if (wanted.includes('*') || wanted.includes(toEtag(subject))) return;
    throw new ServiceError('precondition_failed', 'It has changed: If-Match does not name its current ETag');
  };
}
