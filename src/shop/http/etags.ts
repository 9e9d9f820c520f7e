// Versions of products and webhooks as strong ETags. With `If-Match`, a change applies only to the version that the caller has read.

import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../platform/core/errors.ts';

type Versioned = { version: number };

export function toEtag({ version }: Versioned): string {
  return `"${version}"`;
}

/**
 * Returns a check that throws `precondition_failed` unless `If-Match` names the current version or is `*`. Without the header, the check
 * never throws.
 */
export function ifMatchCheck(request: FastifyRequest): (current: Versioned) => void {
  const header = request.headers['if-match'];
  if (header === undefined) return () => undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (current) => {
    if (tags.includes('*') || tags.includes(toEtag(current))) return;
    throw new ServiceError('precondition_failed', 'The resource has changed: If-Match does not name its current ETag');
  };
}
