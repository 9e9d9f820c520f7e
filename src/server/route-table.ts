// The paths, methods and rate limit buckets of all routes, collected when the routes are registered. The edge finds the bucket of a request
// here before the router runs, and a request that matches no route finds the methods of its path.

import type { FastifyInstance } from 'fastify';
import type { RateLimitBucket } from '../platform/http/rate-limit.ts';

export class RouteTable {
  readonly #routes: { path: RegExp; methods: string[] }[] = [];
  /** The paths of all routes. A request for an unknown path is not compared with each of them. */
  readonly #known = new PathSet();
  /** The paths that were declared with a bucket other than `single`. */
  readonly #pathsOf = new Map<RateLimitBucket, PathSet>();
  /** The paths of the routes that count requests themselves, by method. */
  readonly #keyed = new Map<string, PathSet>();

  /** Must be called before routes are registered. Registering a route without a `bucket` in its `config` then fails. */
  collect(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method, config }) => {
      const methods = [method].flat();
      const bucket = config?.bucket;
      if (bucket === undefined) throw new Error(`route ${methods.join(', ')} ${url} declares no rate limit bucket`);
      this.#known.add(url);
      this.#routes.push({ path: new RegExp(`^${toPattern(url)}/?$`), methods });
      if (bucket === 'key' || bucket === 'batch') for (const one of methods) addTo(this.#keyed, one, url);
      else if (bucket !== 'single') addTo(this.#pathsOf, bucket, url);
    });
  }

  /**
   * The bucket of a request. A path has the bucket of its route for every method. A path without a route is in the bucket `single`. Null if
   * the route counts its requests itself, by API key.
   */
  bucketOf(method: string, path: string): RateLimitBucket | null {
    for (const [bucket, paths] of this.#pathsOf) if (paths.has(path)) return bucket;
    return this.#keyed.get(method)?.has(path) ? null : 'single';
  }

  /** The methods that the routes of a path accept. Empty if the path has no route. */
  methodsOf(path: string): ReadonlySet<string> {
    if (!this.#known.has(path)) return new Set();
    return new Set(this.#routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods));
  }
}

/** The paths of several routes, as one expression, because a match of one expression takes less time than several. */
class PathSet {
  readonly #patterns = new Set<string>();
  #expression: RegExp | null = null;

  add(url: string): void {
    this.#patterns.add(toPattern(url));
    this.#expression = null;
  }

  has(path: string): boolean {
    this.#expression ??= new RegExp(`^(?:${[...this.#patterns].join('|')})/?$`);
    return this.#expression.test(path);
  }
}

function addTo<Key>(sets: Map<Key, PathSet>, key: Key, url: string): void {
  const set = sets.get(key) ?? new PathSet();
  set.add(url);
  sets.set(key, set);
}

function toPattern(url: string): string {
  return url.replaceAll('.', String.raw`\.`).replaceAll(/:[^/]+/g, '[^/]+');
}
