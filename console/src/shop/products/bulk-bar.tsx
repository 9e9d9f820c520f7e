// The bar that changes all selected products at once, and what the last change has done, with its undo.

import { useState } from 'preact/hooks';
import type { ProductSummary } from '../../../../client/src/store.ts';
import { describeFailedChange } from '../../data/errors.ts';
import { useSaving } from '../../data/use-saving.ts';
import { Choice, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { CheckIcon, CloseIcon, WarningIcon } from '../../parts/icons.tsx';
import { useStore } from '../../shell/store.ts';
import { texts as shared } from '../../texts.ts';
import { texts } from '../texts.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import type { ShopSession } from '../session.ts';
import { parseStock } from '../stock/parse-stock.ts';
import type { BulkChange, BulkResult } from './bulk.ts';
import { changeMany, deleteMany } from './bulk.ts';
import type { Selection } from './selection.ts';

const t = texts.bulk;
const STATUSES = ['active', 'draft', 'archived'] as const;
/** More rejected products than these are counted, and not named. */
const NAMED_MAX = 5;

type Products = ReadonlyMap<string, ProductSummary>;
type Action = 'stock' | 'price' | 'collection';

type BulkBarProps = {
  session: ShopSession;
  selection: Selection;
  /** The products of the list as they are now. */
  products: readonly ProductSummary[];
};

type Outcome = { result: BulkResult; what: string; products: Products };

export function BulkBar({ session, selection, products }: BulkBarProps) {
  const selected = useStore(selection);
  const [action, setAction] = useState<Action | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const current = (): Products => {
    const now = new Map(products.map((product) => [product.id, product]));
    return new Map([...selected].map(([id, product]) => [id, now.get(id) ?? product]));
  };
  const {
    save: change,
    isSaving,
    error,
    reset,
  } = useSaving(async ({ wanted, of, what }: { wanted: BulkChange; of: Products; what: string }) => {
    setOutcome(null);
    setAction(null);
    const result = await changeMany(session, wanted, of);
    setOutcome({ result, what, products: new Map([...of].map(([id, product]) => [id, product])) });
  });
  const remove = async () => {
    const all = [...current().values()];
    const result = await deleteMany(session, all);
    setOutcome({ result, what: t.deleted, products: new Map() });
    selection.clear();
  };
  const changeAll = (toRow: (product: ProductSummary) => BulkChange['rows'][number], kind: BulkChange['kind']) => {
    const of = current();
    const wanted = { kind, rows: [...of.values()].map(toRow) } as BulkChange;
    void change({ wanted, of, what: t.changed });
  };
  const canStock = session.scopes.has('inventory:write');
  const canEdit = session.scopes.has('products:write');
  return (
    <>
      {(outcome !== null || error !== null) && (
        <OutcomeNote
          outcome={outcome}
          error={error}
          isSaving={isSaving}
          onUndo={(undo, of) => void change({ wanted: undo, of, what: t.undone })}
          onClose={() => {
            setOutcome(null);
            reset();
          }}
        />
      )}
      {selected.size > 0 && (
        <div class="save-bar bulk-bar" role="region" aria-label={t.label}>
          <p>
            {isSaving ? texts.saving : t.selected(selected.size)}
            <button
              type="button"
              class="icon-button icon-button-small"
              aria-label={t.clear}
              data-tip={t.clear}
              onClick={() => selection.clear()}
            >
              <CloseIcon />
            </button>
          </p>
          <div class="button-row">
            {canStock && (
              <button type="button" class="button" disabled={isSaving} onClick={() => setAction('stock')}>
                {t.stock}
              </button>
            )}
            {canEdit && (
              <>
                <button type="button" class="button" disabled={isSaving} onClick={() => setAction('price')}>
                  {t.price}
                </button>
                <button type="button" class="button" disabled={isSaving} onClick={() => setAction('collection')}>
                  {t.collection}
                </button>
                <select
                  class="input select"
                  aria-label={t.status}
                  value=""
                  disabled={isSaving}
                  onChange={(event) => {
                    const status = STATUSES.find((one) => one === event.currentTarget.value);
                    event.currentTarget.value = '';
                    if (status) changeAll(({ id }) => ({ id, status }), 'products');
                  }}
                >
                  <option value="" disabled>
                    {t.status}
                  </option>
                  {STATUSES.map((status) => (
                    <option key={status} value={status}>
                      {texts.statuses[status]}
                    </option>
                  ))}
                </select>
                <ConfirmButton
                  name={t.remove}
                  title={t.removeTitle(selected.size)}
                  text={t.removeText}
                  action={remove}
                />
              </>
            )}
          </div>
        </div>
      )}
      {action === 'stock' && (
        <StockForm
          count={selected.size}
          onClose={() => setAction(null)}
          onSubmit={(change, reason) =>
            changeAll(({ id }) => ({ product_id: id, ...change, ...(reason !== '' && { reason }) }), 'stock')
          }
        />
      )}
      {action === 'price' && (
        <TextForm
          title={t.priceTitle(selected.size)}
          label={texts.product.fields.price}
          hint={texts.product.hints.price}
          onClose={() => setAction(null)}
          onSubmit={(price) => changeAll(({ id }) => ({ id, price }), 'products')}
        />
      )}
      {action === 'collection' && (
        <CollectionForm
          count={selected.size}
          onClose={() => setAction(null)}
          onSubmit={(slug, mode) =>
            changeAll(({ id, collections }) => {
              const others = collections.filter((one) => one !== slug);
              return { id, collections: mode === 'add' ? [...others, slug] : others };
            }, 'products')
          }
        />
      )}
    </>
  );
}

type OutcomeNoteProps = {
  outcome: Outcome | null;
  error: unknown;
  isSaving: boolean;
  onUndo: (undo: BulkChange, products: Products) => void;
  onClose: () => void;
};

function OutcomeNote({ outcome, error, isSaving, onUndo, onClose }: OutcomeNoteProps) {
  const rejected = outcome?.result.rejected ?? [];
  const undo = outcome?.result.undo ?? null;
  const isBad = error !== null || rejected.length > 0;
  return (
    <div class={isBad ? 'note note-bad bulk-outcome' : 'note note-good bulk-outcome'} role="status">
      {isBad ? <WarningIcon /> : <CheckIcon />}
      <div class="bulk-outcome-text">
        {error !== null && <p>{describeFailedChange(error)}</p>}
        {outcome && <p>{t.outcome(outcome.what, outcome.result.changed, outcome.result.unchanged)}</p>}
        {rejected.slice(0, NAMED_MAX).map(({ name, reason }) => (
          <p key={name}>{t.rejected(name, reason)}</p>
        ))}
        {rejected.length > NAMED_MAX && <p>{t.rejectedMore(rejected.length - NAMED_MAX)}</p>}
      </div>
      {outcome && undo && (
        <button
          type="button"
          class="button button-small"
          disabled={isSaving}
          onClick={() => onUndo(undo, outcome.products)}
        >
          {t.undo}
        </button>
      )}
      <button type="button" class="icon-button icon-button-small" aria-label={shared.shell.close} onClick={onClose}>
        <CloseIcon />
      </button>
    </div>
  );
}

type StockFormProps = {
  count: number;
  onClose: () => void;
  onSubmit: (change: { adjustment: number } | { set: number }, reason: string) => void;
};

function StockForm({ count, onClose, onSubmit }: StockFormProps) {
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const [error, setError] = useState<string | undefined>(undefined);
  const submit = () => {
    const change = parseStock(text, 0);
    if (change === null) setError(texts.stock.notAChange);
    else onSubmit('set' in change ? { set: change.set } : change, reason.trim());
  };
  return (
    <FormDialog
      title={t.stockTitle(count)}
      submitText={t.apply}
      closeText={texts.cancel}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField
        label={texts.stock.amounts.adjustment}
        hint={t.stockHint}
        error={error}
        name="amount"
        value={text}
        isRequired
        onChange={setText}
      />
      <TextField
        label={texts.stock.reason}
        hint={texts.stock.reasonHint}
        name="reason"
        value={reason}
        lengthMax={500}
        onChange={setReason}
      />
    </FormDialog>
  );
}

type TextFormProps = {
  title: string;
  label: string;
  hint: string;
  onClose: () => void;
  onSubmit: (text: string) => void;
};

function TextForm({ title, label, hint, onClose, onSubmit }: TextFormProps) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string | undefined>(undefined);
  const submit = () => {
    if (text.trim() === '') setError(t.empty);
    else onSubmit(text.trim());
  };
  return (
    <FormDialog title={title} submitText={t.apply} closeText={texts.cancel} onClose={onClose} onSubmit={submit}>
      <TextField label={label} hint={hint} error={error} name="value" value={text} isRequired onChange={setText} />
    </FormDialog>
  );
}

type CollectionFormProps = {
  count: number;
  onClose: () => void;
  onSubmit: (slug: string, mode: 'add' | 'remove') => void;
};

function CollectionForm({ count, onClose, onSubmit }: CollectionFormProps) {
  const [slug, setSlug] = useState('');
  const [mode, setMode] = useState<'add' | 'remove'>('add');
  const [error, setError] = useState<string | undefined>(undefined);
  const submit = () => {
    if (slug.trim() === '') setError(t.empty);
    else onSubmit(slug.trim(), mode);
  };
  return (
    <FormDialog
      title={t.collectionTitle(count)}
      submitText={t.apply}
      closeText={texts.cancel}
      onClose={onClose}
      onSubmit={submit}
    >
      <Choice
        label={t.collection}
        name="mode"
        value={mode}
        options={[
          { value: 'add', name: t.add },
          { value: 'remove', name: t.takeOut },
        ]}
        onChange={setMode}
      />
      <TextField
        label={texts.products.collection}
        hint={t.collectionHint}
        error={error}
        name="value"
        value={slug}
        isRequired
        onChange={setSlug}
      />
    </FormDialog>
  );
}
