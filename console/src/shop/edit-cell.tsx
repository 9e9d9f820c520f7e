// A value in a row that the user edits in its place. Enter saves and returns to the row, Esc leaves the value as it was, and the arrow keys save
// and go on to the same value of the next or previous row.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSaving } from '../data/use-saving.ts';
import { describeRowError } from './form-errors.ts';

type EditCellProps = {
  /** `stock` or `price`: what the keys of the list and the arrow keys look for. */
  name: 'stock' | 'price';
  label: string;
  /** The text with which the field begins. */
  value: string;
  hint: string;
  /** Saves the text. Fails with the reason that is shown beside the field. */
  onSave: (text: string) => Promise<unknown>;
  /** The value as the row shows it. */
  children: ComponentChildren;
};

export function EditCell(props: EditCellProps) {
  const [isEdited, setEdited] = useState(false);
  if (isEdited) return <CellField {...props} onClose={() => setEdited(false)} />;
  return (
    <button
      type="button"
      class="cell-edit"
      data-edit={props.name}
      data-tip={props.hint}
      onClick={() => setEdited(true)}
    >
      <span class="visually-hidden">{props.label}: </span>
      {props.children}
    </button>
  );
}

/** Where the focus goes after the field: to its row, or to the same field of another row. Null leaves the focus where the user has put it. */
type Next = 'row' | 1 | -1 | null;

function CellField({ name, label, value, onSave, onClose }: EditCellProps & { onClose: () => void }) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const isClosed = useRef(false);
  useLayoutEffect(() => field.current?.select(), []);
  const close = (next: Next) => {
    if (isClosed.current) return;
    isClosed.current = true;
    const row = field.current?.closest('[role=row]') ?? null;
    const target = row && next !== null ? findNext(row, name, next) : null;
    onClose();
    if (target?.matches('[data-edit]')) target.click();
    else target?.focus();
  };
  // A key that saves can come before the last typed character was rendered, so the text is that of the field.
  const typed = () => (field.current?.value ?? text).trim();
  const { save, isSaving, error } = useSaving(async (next: Next) => {
    await onSave(typed());
    close(next);
  });
  const commit = (next: Next) => {
    if (isSaving || isClosed.current) return;
    if (typed() === value) close(next);
    else void save(next);
  };
  return (
    <span class="cell-field">
      <input
        ref={field}
        class="input mono"
        name={name}
        value={text}
        aria-label={label}
        aria-invalid={error !== null}
        autocomplete="off"
        spellcheck={false}
        inputMode="text"
        onInput={(event) => setText(event.currentTarget.value)}
        // What was typed is saved also if the user clicks elsewhere.
        onBlur={() => commit(null)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit('row');
          else if (event.key === 'Escape') close('row');
          else if (event.key === 'ArrowDown') commit(1);
          else if (event.key === 'ArrowUp') commit(-1);
          else return;
          event.preventDefault();
        }}
      />
      {error !== null && (
        <span class="cell-error" role="alert">
          {describeRowError(error)}
        </span>
      )}
    </span>
  );
}

/** The link of the row, or the button of the same value in the nearest other row that has one. */
function findNext(row: Element, name: string, next: 'row' | 1 | -1): HTMLElement | null {
  const link = row.querySelector<HTMLElement>('[data-row]');
  if (next === 'row') return link;
  const rows = [...(row.closest('[role=table]')?.querySelectorAll('.table-body [role=row]') ?? [])];
  const others = next === 1 ? rows.slice(rows.indexOf(row) + 1) : rows.slice(0, rows.indexOf(row)).toReversed();
  const button = others.map((one) => one.querySelector<HTMLElement>(`[data-edit=${name}]`)).find((one) => one !== null);
  return button ?? link;
}
