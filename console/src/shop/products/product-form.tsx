// The fields of a product. Its status and what places it in the shop are beside the other fields, if the window is wide enough.

import { Checkbox, Choice, TextArea, TextField } from '../../parts/field.tsx';
import { texts } from '../texts.ts';
import type { DraftField, ProductDraft } from './product-draft.ts';

export type FieldErrors = Readonly<Partial<Record<string, string>>>;

type ProductFormProps = {
  draft: ProductDraft;
  errors: FieldErrors;
  onChange: (changes: Partial<ProductDraft>) => void;
  /** Only the form of a new product has a field for the stock. */
  isNew: boolean;
  isReadOnly: boolean;
};

const { fields, hints } = texts.product;
const STATUSES = (['active', 'draft', 'archived'] as const).map((value) => ({
  value,
  name: texts.statuses[value],
}));
const TYPES = (['physical', 'digital', 'nft'] as const).map((value) => ({ value, name: texts.types[value] }));

export function ProductForm({ draft, errors, onChange, isNew, isReadOnly }: ProductFormProps) {
  const text = (field: Exclude<DraftField, 'type' | 'status' | 'trackInventory' | 'requiresShipping'>) => ({
    name: field,
    label: fields[field],
    hint: hints[field],
    error: errors[field],
    value: draft[field],
    isDisabled: isReadOnly,
    onChange: (value: string) => onChange({ [field]: value }),
  });
  return (
    <div class="form">
      <div class="form-column">
        <section class="panel form-part">
          <TextField {...text('name')} isRequired lengthMax={160} />
          <TextField {...text('price')} isRequired isMono inputMode="decimal" />
          <TextField {...text('compareAtPrice')} isMono inputMode="decimal" />
          <TextArea {...text('description')} rows={4} />
          <Choice
            label={fields.type}
            name="type"
            value={draft.type}
            options={TYPES}
            isDisabled={isReadOnly}
            onChange={(type) => {
              const isPhysical = type === 'physical';
              // For a new product, the form sets the same defaults as the service.
              onChange(isNew ? { type, trackInventory: isPhysical, requiresShipping: isPhysical } : { type });
            }}
          />
        </section>
        <section class="panel form-part">
          <h2>{texts.product.pictures}</h2>
          <TextField {...text('image')} inputMode="url" />
          <TextArea {...text('moreImages')} rows={2} />
        </section>
        <section class="panel form-part">
          <h2>{texts.product.stockAndShipping}</h2>
          <TextField {...text('sku')} isMono lengthMax={120} />
          <TextField {...text('barcode')} isMono lengthMax={120} />
          {isNew && <TextField {...text('inventory')} inputMode="numeric" />}
          <Checkbox
            label={fields.trackInventory}
            hint={hints.trackInventory}
            name="trackInventory"
            isChecked={draft.trackInventory}
            isDisabled={isReadOnly}
            onChange={(trackInventory) => onChange({ trackInventory })}
          />
          <Checkbox
            label={fields.requiresShipping}
            name="requiresShipping"
            isChecked={draft.requiresShipping}
            isDisabled={isReadOnly}
            onChange={(requiresShipping) => onChange({ requiresShipping })}
          />
          <TextField {...text('weightGrams')} inputMode="decimal" />
        </section>
      </div>
      <div class="form-column">
        <section class="panel form-part">
          <Choice
            label={fields.status}
            name="status"
            value={draft.status}
            options={STATUSES}
            isDisabled={isReadOnly}
            onChange={(status) => onChange({ status })}
          />
        </section>
        <section class="panel form-part">
          <h2>{texts.product.organisation}</h2>
          <TextField {...text('collections')} />
          <TextField {...text('slug')} isMono />
        </section>
      </div>
    </div>
  );
}
