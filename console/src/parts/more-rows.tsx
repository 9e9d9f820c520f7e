// The end of a paged list. Loads the next page when the user scrolls near the end of the list or presses the button.

import { useEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../texts.ts';
import { ErrorPanel } from './states.tsx';
import './more-rows.css';

/** The part of an infinite query that is used here. */
type PagedQuery = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => Promise<unknown>;
};

const MARGIN = '600px';

export function MoreRows({ query }: { query: PagedQuery }) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  const end = useRef<HTMLDivElement>(null);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    const element = end.current;
    if (!element || !hasNextPage || isFetchingNextPage || isFetchNextPageError) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return;
        observer.disconnect();
        // The end of the list may still be near after the attempt: the page was short, or another read of the list has cancelled the attempt.
        // The observer reports only changes, so a new one is needed.
        void fetchNextPage().finally(() => setAttempts((count) => count + 1));
      },
      { rootMargin: MARGIN },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, attempts]);

  if (isFetchNextPageError) return <ErrorPanel error={query.error} onRetry={() => void fetchNextPage()} />;
  if (!hasNextPage) return null;
  return (
    <div ref={end} class="more-rows">
      <button type="button" class="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {isFetchingNextPage ? texts.states.loading : texts.states.more}
      </button>
    </div>
  );
}
