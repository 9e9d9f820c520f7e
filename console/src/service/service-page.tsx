// The workplace of who runs the service.

import { EmptyState } from '../parts/states.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { texts } from '../texts.ts';

export function ServicePage() {
  usePageTitle(texts.service.title);
  return (
    <div class="page">
      <h1>{texts.service.title}</h1>
      <EmptyState title={texts.service.soon} />
    </div>
  );
}
