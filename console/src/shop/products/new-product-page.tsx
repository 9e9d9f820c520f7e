// The page on which a shop creates a product.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { refreshShop } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../../texts.ts';
import { useDraft } from '../drafts.ts';
import type { FormFailure } from '../form-errors.ts';
import { toFormFailure } from '../form-errors.ts';
import { productPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { UnsavedBar } from '../unsaved.tsx';
import type { ProductDraft } from './product-draft.ts';
import { EMPTY_DRAFT, changedFields, checkNumbers, toCreate } from './product-draft.ts';
import { ProductForm } from './product-form.tsx';
import { Link } from '../../parts/link.tsx';

export function NewProductPage({ session }: { session: ShopSession }) {
  const [, navigate] = useLocation();
  usePageTitle(texts.shop.product.create, texts.shop.title);
  const [kept, setDraft] = useDraft<ProductDraft>('new product');
  const draft = kept ?? EMPTY_DRAFT;
  const [invalid, setInvalid] = useState<FormFailure | null>(null);
  const {
    save: create,
    isSaving,
    error,
  } = useSaving(async () => {
    const { data } = await session.client.createProduct(toCreate(draft));
    setDraft(null);
    await refreshShop();
    navigate(session.scopes.has('products:read') ? productPath(data.id) : '/shop/products', { replace: true });
  });
  const failure = invalid ?? toFormFailure(error);
  const change = (changes: Partial<ProductDraft>) => setDraft({ ...draft, ...changes });

  const save = () => {
    const fields = checkNumbers(draft);
    const isValid = Object.keys(fields).length === 0;
    setInvalid(isValid ? null : { fields, message: null });
    if (isValid) void create();
  };

  return (
    <form
      class="tab"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Link class="link" href="/shop/products">
        {texts.shop.product.back}
      </Link>
      <h2 class="section-title">{texts.shop.product.create}</h2>
      {failure.message !== null && (
        <p class="note note-bad" role="alert">
          {failure.message}
        </p>
      )}
      <ProductForm draft={draft} errors={failure.fields} onChange={change} isNew isReadOnly={false} />
      {changedFields(EMPTY_DRAFT, draft).length > 0 && (
        <UnsavedBar
          isSaving={isSaving}
          saveText={texts.shop.product.createButton}
          onSave={save}
          onDiscard={() => setDraft(null)}
        />
      )}
    </form>
  );
}
