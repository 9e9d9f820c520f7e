// Reads the pages of listings of the example marketplace.

import type { ParsedPage } from '../../../../src/sources/upstreams/response-rows.ts';
import { isRow, optionalRows, optionalText } from '../../../../src/sources/upstreams/response-rows.ts';
import type { UpstreamClient } from '../../../../src/sources/upstreams/upstream-client.ts';
import { toMalformed, toPath } from '../../../../src/sources/upstreams/upstream-client.ts';
import type { WalkEnd } from '../../../../src/sources/upstreams/walk.ts';
import { parsePages, walkPages } from '../../../../src/sources/upstreams/walk.ts';
import type { ExampleContract } from './mapper.ts';
import { parseListings } from './mapper.ts';

export function walkListings(
  upstream: UpstreamClient,
  handle: string,
  { contract, signal }: { contract: ExampleContract; signal: AbortSignal },
): AsyncGenerator<ParsedPage, WalkEnd> {
  const pages = walkPages(
    async (cursor) => {
      const response = await upstream.getJson(toPath('collections', handle, 'listings'), { cursor }, { signal });
      if (!isRow(response)) throw toMalformed(upstream, 'no object');
      return { rows: optionalRows(response, 'listings'), next: optionalText(response, 'next') };
    },
    { pagesMax: 100, rowsMax: 10_000 },
  );
  return parsePages(pages, (rows) => parseListings(rows, contract));
}
