// The page on which a user edits or deletes one product. If another user has saved the product meanwhile, the page merges the changes of the
// two users. Where the two users have changed a field to different values, the user of the page chooses a value.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation, useParams } from 'wouter-preact';
import type { GetProductResult } from '../../../../client/src/store.ts';
import { MercatError } from '../../../../client/src/store.ts';
import { isNotFound, queries } from '../../data/client.ts';
import { productQuery, refreshShop } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Picture } from '../../parts/picture.tsx';
import { EmptyState, ErrorPanel, PartSkeleton } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { useDraft } from '../drafts.ts';
import { toFormFailure } from '../form-errors.ts';
import { groupPath, logPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { UnsavedBar } from '../unsaved.tsx';
import { ConflictPanel } from './conflict-panel.tsx';
import type { FieldConflict, ProductDraft } from './product-draft.ts';
import { changedFields, mergeDrafts, toDraft, toUpdate } from './product-draft.ts';
import { ProductForm } from './product-form.tsx';
import { Link } from '../../parts/link.tsx';

/** The maximum number of attempts to save a product. An attempt fails if another user has saved the product after the page read it. */
const ATTEMPTS_MAX = 3;

export function ProductPage({ session }: { session: ShopSession }) {
  const { id } = useParams<{ id: string }>();
  const query = useQuery(productQuery(session, id));
  usePageTitle(query.data?.data.name ?? texts.tabs.products, texts.title);
  if (query.isPending) return <PartSkeleton />;
  if (query.isError && isNotFound(query.error)) {
    return (
      <EmptyState title={texts.product.notFound}>
        <Link class="button" href="/shop/products">
          {texts.product.back}
        </Link>
      </EmptyState>
    );
  }
  if (!query.data) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  return <ProductEditor key={id} session={session} loaded={query.data} />;
}

function ProductEditor({ session, loaded }: { session: ShopSession; loaded: GetProductResult }) {
  const { client, scopes } = session;
  const [, navigate] = useLocation();
  // Null until the user edits something. Until then the page shows the product that was last read.
  const [edited, setEdited] = useDraft<{ base: GetProductResult; draft: ProductDraft }>(loaded.data.id);
  const { base, draft } = edited ?? { base: loaded, draft: toDraft(loaded.data) };
  const [conflicts, setConflicts] = useState<readonly FieldConflict[]>([]);
  const product = base.data;
  const isWritable = scopes.has('products:write');
  const isChanged = changedFields(toDraft(product), draft).length > 0;
  const change = (changes: Partial<ProductDraft>) => setEdited({ base, draft: { ...draft, ...changes } });
  const { save, isSaving, error, reset } = useSaving(async () => {
    const saved = await saveMerged(session, base, draft);
    if ('conflicts' in saved) {
      setEdited({ base: saved.base, draft: saved.draft });
      setConflicts(saved.conflicts);
    } else {
      queries.setQueryData(productQuery(session, product.id).queryKey, saved.result);
      setEdited(null);
      setConflicts([]);
      await refreshShop();
    }
  });
  const failure = toFormFailure(error);
  const discard = () => {
    setEdited(null);
    setConflicts([]);
    reset();
  };

  const remove = async () => {
    await client.deleteProduct({ productId: product.id });
    setEdited(null);
    queries.removeQueries({ queryKey: productQuery(session, product.id).queryKey });
    navigate('/shop/products', { replace: true });
    await refreshShop();
  };

  return (
    <form
      class="tab form-page"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) void save();
      }}
    >
      <Link class="link" href="/shop/products">
        {texts.product.back}
      </Link>
      <div class="shop-head">
        <Picture url={product.image} alt="" seed={product.id} class="shop-picture" />
        <div class="shop-head-text">
          <h2 class="shop-title">{product.name}</h2>
          <p class="facts">
            <span class="fact-address mono">
              <span class="truncate">{product.id}</span> <CopyButton text={product.id} label={texts.product.id} />
            </span>
            <span>
              {texts.product.updated} <Time at={product.updatedAt} />
            </span>
            <span>
              {texts.product.fields.inventory}:{' '}
              <strong>{product.trackInventory ? product.inventory : texts.stock.untracked}</strong>
            </span>
            {product.groupId !== null && (
              <Link class="link" href={groupPath(product.groupId)}>
                {texts.stock.allVariants}
              </Link>
            )}
            {scopes.has('inventory:read') && (
              <Link class="link" href={logPath(product.id)}>
                {texts.stock.openLog}
              </Link>
            )}
          </p>
        </div>
        {isWritable && (
          <ConfirmButton
            name={texts.product.remove}
            title={texts.product.removeTitle(product.name)}
            text={texts.product.removeText}
            action={remove}
          />
        )}
      </div>
      {!isWritable && <p class="note note-warn">{texts.product.readOnly}</p>}
      {failure.message !== null && (
        <p class="note note-bad" role="alert">
          {failure.message}
        </p>
      )}
      {conflicts.length > 0 && (
        <ConflictPanel conflicts={conflicts} draft={draft} onChoose={(field, value) => change({ [field]: value })} />
      )}
      <ProductForm draft={draft} errors={failure.fields} onChange={change} isNew={false} isReadOnly={!isWritable} />
      {(isChanged || conflicts.length > 0) && (
        <UnsavedBar isSaving={isSaving} saveText={texts.save} onSave={() => void save()} onDiscard={discard} />
      )}
    </form>
  );
}

type Saved =
  | { result: GetProductResult }
  | { base: GetProductResult; draft: ProductDraft; conflicts: readonly FieldConflict[] };

/**
 * Saves the draft. If there is a newer version than the one on which the draft is based, merges the draft into the newer version and saves
 * the result. If a field has different changes in the draft and in the newer version, saves nothing and returns the conflicts.
 */
async function saveMerged(
  { client, scopes }: ShopSession,
  base: GetProductResult,
  draft: ProductDraft,
): Promise<Saved> {
  let current = { base, draft };
  for (let attempts = 1; ; attempts += 1) {
    const productId = current.base.data.id;
    const baseDraft = toDraft(current.base.data);
    try {
      const changes = toUpdate(current.draft, changedFields(baseDraft, current.draft));
      const { etag } = current.base;
      return { result: await client.updateProduct({ productId, ...changes }, etag === null ? {} : { ifMatch: etag }) };
    } catch (error) {
      const isNewer = error instanceof MercatError && error.code === 'precondition_failed';
      if (!isNewer || !scopes.has('products:read') || attempts === ATTEMPTS_MAX) throw error;
    }
    const latest = await client.getProduct({ productId });
    const merged = mergeDrafts(baseDraft, current.draft, toDraft(latest.data));
    if (merged.conflicts.length > 0) return { base: latest, ...merged };
    current = { base: latest, draft: merged.draft };
  }
}
