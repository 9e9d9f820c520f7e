// The workplace of who runs a shop.

import { EmptyState } from '../parts/states.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { texts } from '../texts.ts';

export function ShopPage() {
  usePageTitle(texts.shop.title);
  return (
    <div class="page">
      <h1>{texts.shop.title}</h1>
      <EmptyState title={texts.shop.soon} />
    </div>
  );
}
