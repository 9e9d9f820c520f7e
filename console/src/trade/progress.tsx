// Shows the current step of a trade, and then its outcome.

import type { Hex } from 'viem';
import { shortAddress } from '../format/address.ts';
import { CheckIcon, WarningIcon } from '../parts/icons.tsx';
import type { Step } from './actions.ts';
import { texts } from './texts.ts';

export type Outcome =
  | { state: 'running'; step: Step }
  /** `isLate`: the service has not read the transaction's block yet. */
  | { state: 'done'; text: string; isLate: boolean }
  /** `truths`: sentences that say what is still true after the failure. */
  | { state: 'failed'; reason: string; truths: readonly string[]; hash: Hex | null };

export function Progress({ outcome, onDismiss }: { outcome: Outcome; onDismiss: () => void }) {
  if (outcome.state === 'running') {
    return (
      <p class="trade-step" role="status">
        <span class="spinner" aria-hidden="true" />
        {texts.steps[outcome.step]}
      </p>
    );
  }
  const isDone = outcome.state === 'done';
  return (
    <div class={isDone ? 'note note-good' : 'note note-warn'} role={isDone ? 'status' : 'alert'}>
      {isDone ? <CheckIcon /> : <WarningIcon />}
      <div>
        {isDone ? (
          <p>
            <strong>{outcome.text}</strong> {outcome.isLate && texts.late}
          </p>
        ) : (
          <>
            <p>
              <strong>{outcome.reason}</strong>
            </p>
            {outcome.truths.map((truth) => (
              <p key={truth}>{truth}</p>
            ))}
            {outcome.hash !== null && (
              <p class="muted">
                {texts.transaction}{' '}
                <span class="mono" data-tip={outcome.hash}>
                  {shortAddress(outcome.hash)}
                </span>
              </p>
            )}
          </>
        )}
        <button type="button" class="text-button" onClick={onDismiss}>
          {texts.dismiss}
        </button>
      </div>
    </div>
  );
}
