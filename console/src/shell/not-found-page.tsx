import { EmptyState } from '../parts/states.tsx';
import { texts } from '../texts.ts';
import { usePageTitle } from './shell.tsx';
import { Link } from '../parts/link.tsx';

/** The page for paths that the console does not have. */
export function NotFoundPage({ reason = texts.states.unknownPage }: { reason?: string }) {
  usePageTitle(texts.states.notFound);
  return (
    <div class="page">
      <h1 class="visually-hidden">{texts.states.notFound}</h1>
      <EmptyState title={reason}>
        <Link href="/" class="button">
          {texts.states.toMarket}
        </Link>
      </EmptyState>
    </div>
  );
}
