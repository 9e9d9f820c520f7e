// What a part of a page shows in place of its content: that the content is loading, that there is none, or that loading has failed.

import type { ComponentChildren } from 'preact';
import { WarningIcon } from './icons.tsx';
import { texts } from '../texts.ts';
import { describeError } from '../data/errors.ts';
import './states.css';

export function Skeleton({ width, height = '14px' }: { width: string; height?: string }) {
  return <span class="skeleton" style={{ width, height }} aria-hidden="true" />;
}

export function PageSkeleton() {
  return (
    <div class="page" aria-busy="true">
      <span class="visually-hidden">{texts.states.loading}</span>
      <Skeleton width="240px" height="36px" />
      <Skeleton width="100%" height="320px" />
    </div>
  );
}

export function PartSkeleton() {
  return (
    <div class="tab" aria-busy="true">
      <span class="visually-hidden">{texts.states.loading}</span>
      <Skeleton width="100%" height="280px" />
    </div>
  );
}

export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}

/** Says what failed and offers another try. What was loaded earlier stays on the page. */
export function ErrorPanel({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div class="state state-error" role="alert">
      <WarningIcon />
      <p class="state-title">{texts.states.failed}</p>
      <p class="muted">
        {describeError(error)} {texts.states.failedKept}
      </p>
      <button type="button" class="button" onClick={onRetry}>
        {texts.states.retry}
      </button>
    </div>
  );
}
