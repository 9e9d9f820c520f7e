// An operator's own feed for the replay server. It serves lines of text with an entity tag that is computed from the lines. It may
// require a token.

import { createHash } from 'node:crypto';
import type { ReplayRequest, Route } from './replay.ts';
import { ReplayResponse } from './replay.ts';

export type FeedStore = {
  lines: (object | string)[];
  /** The token that requests must have. Null if they need no token. */
  token: string | null;
  isTagless: boolean;
  /** The number of responses with status 304 so far. */
  unchanged: number;
};

export function createFeedStore(lines: (object | string)[] = []): FeedStore {
  return { lines, token: null, isTagless: false, unchanged: 0 };
}

export function feedRoutes(store: FeedStore): Route[] {
  return [{ path: /\/feed/, origin: 'schema', answer: (request) => answer(store, request) }];
}

function answer(store: FeedStore, { headers }: ReplayRequest): ReplayResponse {
  if (store.token !== null && headers.authorization !== `Bearer ${store.token}`) return new ReplayResponse(401);
  const body = store.lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
  if (!store.isTagless && headers['if-none-match'] === etag) {
    store.unchanged += 1;
    return new ReplayResponse(304, { headers: { etag } });
  }
  return new ReplayResponse(200, {
    body,
    headers: { 'content-type': 'application/x-ndjson', ...(!store.isTagless && { etag }) },
  });
}
