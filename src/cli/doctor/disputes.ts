// The check of `mercat doctor` for endpoints of a chain that disagree. Each of them may respond as it should to the other checks.

import type { ChainStatus } from '../../sources/chains/chain-status.ts';
import { describeDispute, describeDisputeRemedy } from '../describe-dispute.ts';
import type { DoctorFinding } from './findings.ts';
import { fail, warn } from './findings.ts';

export type ChainComparison = Pick<ChainStatus, 'chain' | 'comparison'>;

/** A dispute about a new block stops the chain. Any other dispute concerns a part of its data. */
export function judgeDisputes(chains: readonly ChainComparison[]): DoctorFinding[] {
  return chains.flatMap(({ chain, comparison }) => {
    const disputed = comparison?.disputed;
    if (!disputed) return [];
    const report = disputed.kind === 'new' ? fail : warn;
    return [report(`${chain} endpoints`, describeDispute(disputed), describeDisputeRemedy(chain))];
  });
}
