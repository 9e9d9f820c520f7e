// The dialog that changes the stock of one product: by a number (`adjustment`), or to a number (`set`). A `set` must not overwrite a change
// that the user has not seen. So the request has the stock that the dialog showed, and the service rejects the request if the stock has changed.

import { useState } from 'preact/hooks';
import type { InventoryItem } from '../../../../client/src/store.ts';
import { MercatError } from '../../../../client/src/store.ts';
import { refreshShop } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { formatCount } from '../../format/amount.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Choice, TextField } from '../../parts/field.tsx';
import { WarningIcon } from '../../parts/icons.tsx';
import { texts } from '../texts.ts';
import type { FormFailure } from '../form-errors.ts';
import { toFormFailure } from '../form-errors.ts';
import type { ShopSession } from '../session.ts';

type Mode = 'adjustment' | 'set';

const MODES = (['adjustment', 'set'] as const).map((value) => ({ value, name: texts.stock.modes[value] }));
const REASON_CHARACTERS_MAX = 500;

type StockDialogProps = { session: ShopSession; item: InventoryItem; onClose: () => void };

export function StockDialog({ session: { client }, item, onClose }: StockDialogProps) {
  const [mode, setMode] = useState<Mode>('adjustment');
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  /** The stock that the dialog shows. */
  const [seen, setSeen] = useState(item.inventory);
  const [conflict, setConflict] = useState<{ before: number } | null>(null);
  const [invalid, setInvalid] = useState<FormFailure | null>(null);
  const number = parseWhole(amount, mode);
  const next = number === null ? null : Math.max(0, mode === 'set' ? number : seen + number);

  const { save, isSaving, error } = useSaving(async (counted: number) => {
    try {
      await client.changeInventory({
        product_id: item.productId,
        ...(mode === 'set' ? { set: counted, expected: seen } : { adjustment: counted }),
        ...(reason.trim() !== '' && { reason: reason.trim() }),
      });
    } catch (cause) {
      const present = isConflict(cause) ? await readStock() : null;
      if (present === null) throw cause;
      setConflict({ before: seen });
      setSeen(present);
      return;
    }
    onClose();
    await refreshShop();
  });
  const failure = invalid ?? toFormFailure(error);
  const submit = () => {
    setInvalid(number === null ? { fields: { [mode]: texts.product.notAWholeNumber }, message: null } : null);
    if (number !== null) void save(number);
  };

  /** Null if the product is not tracked any more, or the stock cannot be read. */
  const readStock = async (): Promise<number | null> => {
    try {
      const { data } = await client.listInventory({ product_id: item.productId });
      return data[0]?.inventory ?? null;
    } catch {
      return null;
    }
  };

  return (
    <Dialog title={texts.stock.dialogTitle(item.name)} isOpen onClose={onClose}>
      <form
        class="dialog-body"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Choice label={texts.stock.mode} name="mode" value={mode} options={MODES} onChange={setMode} />
        <TextField
          label={texts.stock.amounts[mode]}
          hint={next === null ? texts.stock.hints[mode] : texts.stock.effect(formatCount(seen), formatCount(next))}
          error={failure.fields[mode]}
          name="amount"
          value={amount}
          inputMode="text"
          isRequired
          onChange={setAmount}
        />
        <TextField
          label={texts.stock.reason}
          hint={texts.stock.reasonHint}
          error={failure.fields['reason']}
          name="reason"
          value={reason}
          lengthMax={REASON_CHARACTERS_MAX}
          onChange={setReason}
        />
        {conflict && (
          <div class="note note-warn" role="alert">
            <WarningIcon />
            <p>
              <strong>{texts.stock.conflictTitle}</strong>{' '}
              {texts.stock.conflict(formatCount(conflict.before), formatCount(seen))}
            </p>
          </div>
        )}
        {failure.message !== null && (
          <p class="field-error" role="alert">
            {failure.message}
          </p>
        )}
        <div class="button-row">
          <button type="button" class="button" onClick={onClose}>
            {conflict ? texts.stock.keep(formatCount(seen)) : texts.cancel}
          </button>
          <button type="submit" class="button button-primary" disabled={isSaving}>
            {conflict && next !== null ? texts.stock.setAnyway(formatCount(next)) : texts.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function isConflict(error: unknown): boolean {
  return error instanceof MercatError && error.code === 'conflict';
}

/** Null unless the text is a whole number. The number of an adjustment can have a sign. */
function parseWhole(text: string, mode: Mode): number | null {
  const trimmed = text.trim().replace('−', '-');
  const isWhole = (mode === 'set' ? /^\d+$/ : /^[+-]?\d+$/).test(trimmed);
  return isWhole ? Number(trimmed) : null;
}
