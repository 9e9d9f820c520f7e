// Versions of products and webhooks as strong ETags, for callers who want to change only the version that they have read.

import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../core/errors.ts';

type Versioned = { version: number };

export function toEtag({ version }: Versioned): string {
  return `"${version}"`;
}

/** A check that throws `precondition_failed` for a version that `If-Match` does not name. Without the header it passes all. */
export function ifMatchCheck(request: FastifyRequest): (current: Versioned) => void {
  const header = request.headers['if-match'];
  if (header === undefined) return () => undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (current) => {
    if (tags.includes('*') || tags.includes(toEtag(current))) return;
    throw new ServiceError('precondition_failed', 'The resource has changed: If-Match does not name its current ETag');
  };
}
