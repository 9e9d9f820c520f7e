// The pages for a person who runs a shop. There are tabs only for the parts that the scopes of the API key allow.

import type { ComponentChildren } from 'preact';
import { Redirect, Route, Switch, useLocation } from 'wouter-preact';
import { EmptyState } from '../parts/states.tsx';
import { Segments } from '../parts/segments.tsx';
import { lazyPart } from '../shell/lazy-page.tsx';
import { leave } from '../shell/leaving.ts';
import { useStore } from '../shell/store.ts';
import { texts as shared } from '../texts.ts';
import { texts } from './texts.ts';
import { forgetDrafts } from './drafts.ts';
import { NewProductPage } from './products/new-product-page.tsx';
import { ProductPage } from './products/product-page.tsx';
import { ProductsPage } from './products/products-page.tsx';
import { ReservationPage } from './reservations/reservation-page.tsx';
import { ReservationsPage } from './reservations/reservations-page.tsx';
import type { Scope, ShopSession } from './session.ts';
import { shopSession, signOut } from './session.ts';
import { SignIn } from './sign-in.tsx';
import { LogPage } from './stock/log-page.tsx';
import { StockPage } from './stock/stock-page.tsx';
import { WebhookPage } from './webhooks/webhook-page.tsx';
import { WebhooksPage } from './webhooks/webhooks-page.tsx';

/** Loaded on demand, because it has the rules of products and of slugs. */
const FilesPage = lazyPart<{ session: ShopSession }>(async () => (await import('./files/files-page.tsx')).FilesPage);

/** The parts with a tab. `id` is the path below /shop, `scope` the scope that the part needs. */
const PARTS: readonly { id: keyof typeof texts.tabs; scope: Scope }[] = [
  { id: 'products', scope: 'products:read' },
  { id: 'stock', scope: 'inventory:read' },
  { id: 'reservations', scope: 'inventory:read' },
  { id: 'log', scope: 'inventory:read' },
  { id: 'webhooks', scope: 'webhooks:read' },
];

export function ShopPage() {
  const session = useStore(shopSession);
  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.title}</h1>
        {session ? (
          <p class="session">
            <span class="muted">
              {texts.signedIn} <span class="mono">{session.keyHint}</span>
            </span>
            <button type="button" class="text-button" onClick={() => leave(signOutAndForget)}>
              {texts.signOut}
            </button>
          </p>
        ) : (
          <p class="muted">{texts.lead}</p>
        )}
      </div>
      {session ? <Workplace session={session} /> : <SignIn />}
    </div>
  );
}

function signOutAndForget(): void {
  signOut();
  forgetDrafts();
}

function Workplace({ session }: { session: ShopSession }) {
  const [path] = useLocation();
  const parts = PARTS.filter(({ scope }) => session.scopes.has(scope));
  const first = parts[0];
  const part = path.split('/')[2] ?? '';
  const current = part === 'files' ? 'products' : part;
  const only = (scope: Scope, part: ComponentChildren) =>
    session.scopes.has(scope) ? part : <EmptyState title={texts.missingScope(scope)} />;
  return (
    <>
      <Segments
        isTabs
        label={texts.tabsLabel}
        value={current}
        segments={parts.map(({ id }) => ({ value: id, name: texts.tabs[id] }))}
        hrefOf={(id) => `/shop/${id}`}
      />
      <Switch>
        <Route path="/shop">
          {first ? (
            <Redirect to={`/shop/${first.id}`} replace />
          ) : (
            <EmptyState title={texts.nothingToRead}>
              <p class="muted">{texts.nothingToReadHint}</p>
            </EmptyState>
          )}
        </Route>
        <Route path="/shop/files">{only('products:write', <FilesPage session={session} />)}</Route>
        <Route path="/shop/products">{only('products:read', <ProductsPage session={session} />)}</Route>
        <Route path="/shop/products/new">{only('products:write', <NewProductPage session={session} />)}</Route>
        <Route path="/shop/products/:id">{only('products:read', <ProductPage session={session} />)}</Route>
        <Route path="/shop/stock">{only('inventory:read', <StockPage session={session} />)}</Route>
        <Route path="/shop/reservations">{only('inventory:read', <ReservationsPage session={session} />)}</Route>
        <Route path="/shop/reservations/:id">{only('inventory:read', <ReservationPage session={session} />)}</Route>
        <Route path="/shop/log">{only('inventory:read', <LogPage session={session} />)}</Route>
        <Route path="/shop/webhooks">{only('webhooks:read', <WebhooksPage session={session} />)}</Route>
        <Route path="/shop/webhooks/:id">{only('webhooks:read', <WebhookPage session={session} />)}</Route>
        <Route>
          <EmptyState title={shared.states.unknownPage} />
        </Route>
      </Switch>
    </>
  );
}
