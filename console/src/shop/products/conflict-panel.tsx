// Shows the fields that the user and another editor have changed to different values. The user chooses one value for each field.

import { useEffect, useRef } from 'preact/hooks';
import { WarningIcon } from '../../parts/icons.tsx';
import { texts } from '../texts.ts';
import type { DraftField, FieldConflict, ProductDraft } from './product-draft.ts';

type ConflictPanelProps = {
  conflicts: readonly FieldConflict[];
  draft: ProductDraft;
  onChoose: (field: DraftField, value: string | boolean) => void;
};

export function ConflictPanel({ conflicts, draft, onChoose }: ConflictPanelProps) {
  const panel = useRef<HTMLElement>(null);
  // Scrolls to the panel, which may be outside the visible part of the page when the user edits a field at the end of the page.
  useEffect(() => panel.current?.scrollIntoView({ block: 'center' }), []);
  return (
    <section ref={panel} class="panel conflicts" role="alert">
      <h3 class="conflicts-title">
        <WarningIcon />
        {texts.conflict.title}
      </h3>
      <p class="muted">{texts.conflict.text}</p>
      {conflicts.map(({ field, mine, theirs }) => (
        <fieldset key={field} class="conflict">
          <legend>{texts.product.fields[field]}</legend>
          {[
            { name: texts.conflict.theirs, value: theirs },
            { name: texts.conflict.mine, value: mine },
          ].map(({ name, value }) => (
            <label key={name} class="conflict-side">
              <input
                type="radio"
                name={`conflict-${field}`}
                checked={draft[field] === value}
                onChange={() => onChoose(field, value)}
              />
              <span>
                <span class="muted">{name}</span>
                <span class="conflict-value">{toText(value)}</span>
              </span>
            </label>
          ))}
        </fieldset>
      ))}
    </section>
  );
}

function toText(value: string | boolean): string {
  if (typeof value === 'boolean') return value ? texts.yes : texts.no;
  return value === '' ? texts.empty : value;
}
