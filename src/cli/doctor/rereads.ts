// The check of `mercat doctor` for stored blocks that must be read again: only one endpoint of a chain has served them, or an audit found wrong data.

import type { ChainStatus } from '../../sources/chains/chain-status.ts';
import { toChainSetting } from '../../service/config.ts';
import { describeRanges } from '../describe-ranges.ts';
import type { DoctorFinding } from './findings.ts';
import { ok, warn } from './findings.ts';

/** Blocks that have waited for longer are a warning: an endpoint has not responded for all this time, or the endpoints disagree. */
const LONG_MS = 10 * 60_000;

export type ChainRereads = Pick<ChainStatus, 'chain' | 'toReadAgain'>;

/** `outside`: the findings about the endpoints, of which those that are not `ok` are named. `now` in milliseconds. */
export function judgeRereads(
  chains: readonly ChainRereads[],
  { outside, now }: { outside: readonly DoctorFinding[]; now: number },
): DoctorFinding[] {
  return chains.flatMap(({ chain, toReadAgain }) => {
    const [since] = toReadAgain.map((range) => range.since).sort();
    if (since === undefined) return [];
    const name = `${chain} blocks`;
    const message = `stored, and to be read again since ${since}, because only one endpoint served them or an audit found wrong data: ${describeRanges(toReadAgain)}`;
    if (now - Date.parse(since) < LONG_MS) return [ok(name, message)];
    const failing = outside.filter(
      (finding) => finding.name.startsWith(`${chain} endpoint `) && finding.level !== 'ok',
    );
    const named = failing.map((finding) => finding.name).join(', ');
    const reason = failing.length > 0 ? `these do not respond as they should: ${named}` : 'all endpoints respond now';
    return [
      warn(name, `${message}. ${reason}`, `see mercat status, and replace the endpoint in ${toChainSetting(chain)}`),
    ];
  });
}
