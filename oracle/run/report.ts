// Formats the result of a run as a table, followed by the findings.

import { FINDING_KINDS } from '../compare.ts';
import type { RunResult } from './run.ts';

const FINDINGS_SHOWN = 40;

export function describeResult(result: RunResult): string {
  const { findings, fillable, acceptable, settledMs, differentDigests } = result;
  const rows: [string, string | number][] = [
    ['blocks checked', result.blocks],
    ['listings checked', result.listings],
    ['bids checked', result.bids],
    ['orders that can be filled at a block', `${fillable.least} to ${fillable.most}`],
    ['bids that can be accepted at a block', `${acceptable.least} to ${acceptable.most}`],
    ['top bids checked', result.topBids],
    ...FINDING_KINDS.map((kind): [string, number] => [
      LABELS[kind],
      findings.filter((one) => one.kind === kind).length,
    ]),
    ['unfillable orders, rightly absent', result.rightlyAbsent],
    ['orders about to expire, not compared', result.undecided],
    ['owners checked', result.owners],
    ['kills', result.kills],
    ['reorganisations', `${result.reorganisations}, the deepest of ${result.deepest} blocks`],
    ['digests compared', result.digests],
    ['blocks with different digests', differentDigests.length],
    ['ms until both services agree with a block', `${settledMs.median} in the median, ${settledMs.most} at most`],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const shown = findings.slice(0, FINDINGS_SHOWN).map(({ block, service, kind, collectionId, asset, detail }) => {
    return `block ${block}, ${service}: ${kind}: ${collectionId} ${asset}: ${detail}`;
  });
  const more = findings.length - shown.length;
  return [
    ...rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`),
    ...(differentDigests.length > 0
      ? [`digests differ at ${differentDigests.slice(0, FINDINGS_SHOWN).join(', ')}`]
      : []),
    ...shown,
    ...(more > 0 ? [`… and ${more} more findings`] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const LABELS = {
  phantom: 'phantoms',
  hidden: 'hidden assets and bids',
  wrong: 'wrong order, price or position',
  unknown: 'listings and bids of no known order',
  owner: 'wrong owners',
} as const;
