// The page on which a shop creates a product.

import { useLocation } from 'wouter-preact';
import { refreshShop } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { useDraft } from '../drafts.ts';
import { toFormFailure } from '../form-errors.ts';
import { productPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { UnsavedBar } from '../unsaved.tsx';
import type { ProductDraft } from './product-draft.ts';
import { EMPTY_DRAFT, changedFields, toCreate } from './product-draft.ts';
import { ProductForm } from './product-form.tsx';
import { Link } from '../../parts/link.tsx';

export function NewProductPage({ session }: { session: ShopSession }) {
  const [, navigate] = useLocation();
  usePageTitle(texts.product.create, texts.title);
  const [kept, setDraft] = useDraft<ProductDraft>('new product');
  const draft = kept ?? EMPTY_DRAFT;
  const { save, isSaving, error } = useSaving(async () => {
    const { data } = await session.client.createProduct(toCreate(draft));
    setDraft(null);
    await refreshShop();
    navigate(session.scopes.has('products:read') ? productPath(data.id) : '/shop/products', { replace: true });
  });
  const failure = toFormFailure(error);
  const change = (changes: Partial<ProductDraft>) => setDraft({ ...draft, ...changes });

  return (
    <form
      class="tab form-page"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Link class="link" href="/shop/products">
        {texts.product.back}
      </Link>
      <h2 class="shop-title">{texts.product.create}</h2>
      {failure.message !== null && (
        <p class="note note-bad" role="alert">
          {failure.message}
        </p>
      )}
      <ProductForm draft={draft} errors={failure.fields} onChange={change} isNew isReadOnly={false} />
      {changedFields(EMPTY_DRAFT, draft).length > 0 && (
        <UnsavedBar
          isSaving={isSaving}
          saveText={texts.product.createButton}
          onSave={() => void save()}
          onDiscard={() => setDraft(null)}
        />
      )}
    </form>
  );
}
