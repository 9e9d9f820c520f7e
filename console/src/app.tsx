// The pages of the console by path.

import { QueryClientProvider } from '@tanstack/preact-query';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { queries } from './data/client.ts';
import { collectionQuery, tokenQuery } from './data/market-queries.ts';
import { CollectionsPage, startReadingCollections } from './market/collections-page.tsx';
import { ErrorBoundary } from './parts/error-boundary.tsx';
import { NotFoundPage } from './shell/not-found-page.tsx';
import { Shell } from './shell/shell.tsx';
import { basePath } from './shell/base-path.ts';
import { lazyPage } from './shell/lazy-page.tsx';

const loadCollectionPage = async () => (await import('./market/collection/collection-page.tsx')).CollectionPage;
const loadTokenPage = async () => (await import('./market/token-page.tsx')).TokenPage;
const CollectionPage = lazyPage(loadCollectionPage);
const TokenPage = lazyPage(loadTokenPage);
const OrderPage = lazyPage(async () => (await import('./market/order-page.tsx')).OrderPage);
const WalletPage = lazyPage(async () => (await import('./market/wallet-page.tsx')).WalletPage);
const ShopPage = lazyPage(async () => (await import('./shop/shop-page.tsx')).ShopPage);
const ServicePage = lazyPage(async () => (await import('./service/service-page.tsx')).ServicePage);

/** Names in a path that are the same when they are encoded. */
const PLAIN = /^[\w.-]+$/;

/**
 * Begins to load what the opened page needs first, so that the browser loads it while it paints and renders the page around it. The page itself
 * reports what cannot be loaded.
 */
export function startReading({ pathname, search }: Location): void {
  const [, section, ...names] = pathname.slice(basePath.length).split('/');
  const [first = '', second = '', third = ''] = names.filter((name) => PLAIN.test(name));
  if (section === '') startReadingCollections(new URLSearchParams(search));
  else if (section === 'c' && first !== '') {
    loadCollectionPage().catch(() => undefined);
    void queries.prefetchQuery(collectionQuery(first));
  } else if (section === 't' && third !== '') {
    loadTokenPage().catch(() => undefined);
    void queries.prefetchQuery(tokenQuery(first, second, third));
  }
}

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Router base={basePath}>
        <Shell>
          <Pages />
        </Shell>
      </Router>
    </QueryClientProvider>
  );
}

function Pages() {
  const [path] = useLocation();
  return (
    <ErrorBoundary subject={path} isPage>
      <Switch>
        <Route path="/" component={CollectionsPage} />
        <Route path="/c/:id" component={CollectionPage} />
        <Route path="/t/:chain/:address/:id" component={TokenPage} />
        <Route path="/o/:id" component={OrderPage} />
        <Route path="/w/:address" component={WalletPage} />
        <Route path="/shop/*?" component={ShopPage} />
        <Route path="/service/*?" component={ServicePage} />
        <Route>
          <NotFoundPage />
        </Route>
      </Switch>
    </ErrorBoundary>
  );
}
