// The pages of the console by path.

import { QueryClientProvider } from '@tanstack/preact-query';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { queries } from './data/client.ts';
import { CollectionsPage } from './market/collections-page.tsx';
import { ErrorBoundary } from './parts/error-boundary.tsx';
import { NotFoundPage } from './shell/not-found-page.tsx';
import { Shell } from './shell/shell.tsx';
import { basePath } from './shell/base-path.ts';
import { lazyPage } from './shell/lazy-page.tsx';

const CollectionPage = lazyPage(async () => (await import('./market/collection/collection-page.tsx')).CollectionPage);
const TokenPage = lazyPage(async () => (await import('./market/token-page.tsx')).TokenPage);
const WalletPage = lazyPage(async () => (await import('./market/wallet-page.tsx')).WalletPage);
const ShopPage = lazyPage(async () => (await import('./shop/shop-page.tsx')).ShopPage);
const ServicePage = lazyPage(async () => (await import('./service/service-page.tsx')).ServicePage);

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
