// Parses request bodies of the store and the intake, which must be JSON in well-formed UTF-8. Each number is kept as its literal text.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../core/errors.ts';
import { hasMoreValues, parseJsonText } from '../core/json-text.ts';
import { isSliceOver, nextSlice } from '../core/slices.ts';

/** The bytes of a body and the value that they hold. */
export type JsonBody = { raw: Buffer; value: unknown };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The public message for a body that is not readable JSON. */
    unreadableBody?: string;
    /** The most values of a body, in all its arrays and objects. Default: VALUES_MAX. */
    valuesMax?: number;
  }
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const VALUES_MAX = 10_000;
/** Larger bodies that arrive together share the event loop with other requests: parsing VALUES_MAX values takes several milliseconds. */
const SMALL_BYTES_MAX = 4 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Makes all routes of `app` parse request bodies as JSON. Any other body is rejected as a `bad_request`. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, raw, done) => {
    const parse = () => {
      try {
        done(null, parseBody(request, raw as Buffer));
      } catch (error) {
        done(toUnreadable(request, error));
      }
    };
    if (raw.length <= SMALL_BYTES_MAX || !isSliceOver()) parse();
    else void nextSlice().then(parse);
  });
  // The framework rejects a body that is too large or incomplete. Such a body gets the same message as other unreadable bodies.
  app.setErrorHandler((error, request) => {
    const { code = '' } = error as { code?: string };
    throw code.startsWith('FST_ERR_CTP_') ? toUnreadable(request, error) : error;
  });
}

/** The body of a request. If there is none, `value` is undefined. */
export function bodyOf(request: FastifyRequest): JsonBody {
  return (request.body as JsonBody | null | undefined) ?? { raw: Buffer.alloc(0), value: undefined };
}

function toUnreadable(request: FastifyRequest, cause: unknown): ServiceError {
  const { config, bodyLimit } = request.routeOptions;
  const { unreadableBody = 'Invalid payload', valuesMax = VALUES_MAX } = config;
  const size = `${bodyLimit / 1024 ** 2} MiB and ${valuesMax} values`;
  const details = [{ path: '', message: `must be JSON in UTF-8 of at most ${size}, as application/json` }];
  return new ServiceError('bad_request', unreadableBody, { cause, details });
}

function parseBody(request: FastifyRequest, raw: Buffer): JsonBody {
  const type = request.headers['content-type'];
  const { valuesMax = VALUES_MAX } = request.routeOptions.config;
  if (raw.length === 0) return { raw, value: undefined };
  if (type !== undefined && !JSON_TYPE.test(type)) throw new TypeError(`the content type is ${type}`);
  const text = utf8.decode(raw);
  if (hasMoreValues(text, valuesMax)) throw new RangeError(`the body has more than ${valuesMax} values`);
  return { raw, value: parseJsonText(text) };
}
