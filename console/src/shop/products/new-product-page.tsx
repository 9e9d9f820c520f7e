// The page on which a shop creates a product.

import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { refreshShop } from '../../data/shop-queries.ts';
import { texts } from '../../texts.ts';
import { NO_FAILURE, toFormFailure } from '../form-errors.ts';
import { productPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { UnsavedBar } from '../unsaved.tsx';
import type { ProductDraft } from './product-draft.ts';
import { EMPTY_DRAFT, changedFields, checkNumbers, toCreate } from './product-draft.ts';
import { ProductForm } from './product-form.tsx';
import { Link } from '../../parts/link.tsx';

export function NewProductPage({ session }: { session: ShopSession }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [failure, setFailure] = useState(NO_FAILURE);
  const [isSaving, setSaving] = useState(false);
  const change = (changes: Partial<ProductDraft>) => setDraft({ ...draft, ...changes });

  const save = async () => {
    const fields = checkNumbers(draft);
    if (Object.keys(fields).length > 0) {
      setFailure({ fields, message: null });
      return;
    }
    setSaving(true);
    try {
      const { data } = await session.client.createProduct(toCreate(draft));
      await refreshShop();
      navigate(session.scopes.has('products:read') ? productPath(data.id) : '/shop/products', { replace: true });
    } catch (error) {
      setFailure(toFormFailure(error));
      setSaving(false);
    }
  };

  return (
    <form
      class="tab"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
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
          onSave={() => void save()}
          onDiscard={() => setDraft(EMPTY_DRAFT)}
        />
      )}
    </form>
  );
}
