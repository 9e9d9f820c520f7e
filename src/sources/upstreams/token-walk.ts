// A walk over the list of all tokens of a collection. Counts the tokens that the walk reads, and stores what the walk has covered.

import { countKnownTokens } from '../../market/index/queries/tokens.ts';
import type { CoverageSubject } from '../../market/provenance/coverage.ts';
import type { UpstreamContext } from './context.ts';
import type { CollectionRun, WalkStart } from './followed-task.ts';
import { beginWalk, coverWalk } from './followed-task.ts';
import type { SourceRecord } from './response-rows.ts';

export class TokenWalk {
  /** The number of records that the walk has read so far. */
  records = 0;
  readonly #context: UpstreamContext;
  readonly #run: CollectionRun;
  readonly #start: WalkStart;
  readonly #seen = new Set<unknown>();

  constructor(context: UpstreamContext, run: CollectionRun) {
    this.#context = context;
    this.#run = run;
    this.#start = beginWalk(context, run);
  }

  note(record: SourceRecord): SourceRecord {
    this.records += 1;
    this.#seen.add(record['tokenId'] ?? record['mint']);
    return record;
  }

  /**
   * Stores what a walk over a complete list has covered. Stores nothing if the number of tokens in the list differs from the number of
   * stored tokens, because stored tokens that the list lacks may be burned.
   */
  async conclude({ source, subjects }: { source: string; subjects: readonly CoverageSubject[] }): Promise<void> {
    const known = await countKnownTokens(this.#context.indexer, this.#run.follow.collectionId);
    if (known !== this.#seen.size) return;
    for (const subject of subjects) await coverWalk(this.#run, subject, { source, walk: this.#start });
  }
}
