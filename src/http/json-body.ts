// Bodies of the store interface: JSON in well-formed UTF-8, with every number as its literal text.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJsonText } from '../core/json-text.ts';
import { ServiceError } from '../core/errors.ts';

/** A body as it came, and what it says. */
export type JsonBody = { raw: Buffer; value: unknown };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller is told whose body cannot be read. */
    unreadableBody?: string;
  }
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Reads every body of the scope strictly; what is not JSON is a `bad_request`. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, raw, done) => {
    try {
      done(null, parseBody(request.headers['content-type'], raw as Buffer));
    } catch (error) {
      done(unreadable(request, error));
    }
  });
  // Too large, of no type at all, cut short: what the framework refuses by itself is told in the same words.
  app.setErrorHandler((error, request) => {
    const { code = '' } = error as { code?: string };
    throw code.startsWith('FST_ERR_CTP_') ? unreadable(request, error) : error;
  });
}

/** The body of a request; one that brought none says nothing. */
export function bodyOf(request: FastifyRequest): JsonBody {
  return (request.body as JsonBody | null | undefined) ?? { raw: Buffer.alloc(0), value: undefined };
}

function unreadable(request: FastifyRequest, cause: unknown): ServiceError {
  const { unreadableBody = 'Invalid payload' } = request.routeOptions.config;
  const details = [{ path: '', message: 'must be JSON in UTF-8 of at most 1 MiB, as application/json' }];
  return new ServiceError('bad_request', unreadableBody, { cause, details });
}

function parseBody(type: string | undefined, raw: Buffer): JsonBody {
  if (raw.length === 0) return { raw, value: undefined };
  if (type !== undefined && !JSON_TYPE.test(type)) throw new TypeError(`a body of another type: ${type}`);
  return { raw, value: parseJsonText(utf8.decode(raw)) };
}
