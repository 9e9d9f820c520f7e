// Imports products from files, with a preview of what would change, and exports all products of the shop to a file.

import { useState } from 'preact/hooks';
import { describeShopify } from '../../../../src/shop/products/shopify.ts';
import { toNdjsonLines, toShopifyCsv } from '../../../../src/shop/products/product-files.ts';
import type { Product } from '../../../../client/src/store.ts';
import { describeFailedChange } from '../../data/errors.ts';
import { refreshShop } from '../../data/shop-queries.ts';
import { useSaving } from '../../data/use-saving.ts';
import { formatCount } from '../../format/amount.ts';
import { TextField } from '../../parts/field.tsx';
import { CheckIcon, WarningIcon } from '../../parts/icons.tsx';
import { Link } from '../../parts/link.tsx';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import type { ShopSession } from '../session.ts';
import type { Applied, Plan, PlannedRow } from './plan.ts';
import { applyPlan, readAllProducts, toPlan } from './plan.ts';
import type { FileContent, Rejected } from './read-file.ts';
import { UnreadableFile, readProductFile } from './read-file.ts';

const t = texts.files;
/** The rows of a list in the preview. The rest is counted. */
const SHOWN_MAX = 100;
const MIME_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

export function FilesPage({ session }: { session: ShopSession }) {
  usePageTitle(t.title, texts.title);
  return (
    <div class="tab">
      <Link class="link" href="/shop/products">
        {texts.product.back}
      </Link>
      <h2 class="section-title">{t.title}</h2>
      <Import session={session} />
      <Export session={session} />
    </div>
  );
}

type Preview = { name: string; content: FileContent; plan: Plan };

function Import({ session }: { session: ShopSession }) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const [applied, setApplied] = useState<Applied | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const reading = useSaving(async (file: File) => {
    setPreview(null);
    setApplied(null);
    try {
      const content = readProductFile(await file.arrayBuffer());
      const products = await readAllProducts(session, (done, all) =>
        setProgress(t.reading(formatCount(done), formatCount(all))),
      );
      setPreview({ name: file.name, content, plan: toPlan(content, products) });
    } finally {
      setProgress(null);
    }
  });
  const storing = useSaving(async ({ plan }: Preview) => {
    try {
      setApplied(
        await applyPlan(session, plan, (done, all) => setProgress(t.storing(formatCount(done), formatCount(all)))),
      );
      setPreview(null);
    } finally {
      setProgress(null);
      await refreshShop();
    }
  });
  const error = reading.error ?? storing.error;
  const isBusy = reading.isSaving || storing.isSaving;
  return (
    <section class="panel form-part files-part" aria-labelledby="import">
      <h3 id="import">{t.import}</h3>
      <p class="muted">{t.importText}</p>
      <label class="file-choice">
        <span>{t.choose}</span>
        <input
          type="file"
          name="file"
          accept=".csv,.ndjson,.jsonl,.json,text/csv"
          disabled={isBusy}
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            // The same file can be chosen again after it was corrected.
            event.currentTarget.value = '';
            if (file) void reading.save(file);
          }}
        />
      </label>
      <p role="status" class="outcome">
        {progress}
      </p>
      {error !== null && (
        <p class="note note-bad" role="alert">
          <WarningIcon />
          <span>{error instanceof UnreadableFile ? error.message : describeFailedChange(error)}</span>
        </p>
      )}
      {preview && (
        <PreviewPanel
          preview={preview}
          isBusy={isBusy}
          onApply={() => void storing.save(preview)}
          onCancel={() => setPreview(null)}
        />
      )}
      {applied && <AppliedPanel applied={applied} />}
    </section>
  );
}

type PreviewPanelProps = { preview: Preview; isBusy: boolean; onApply: () => void; onCancel: () => void };

function PreviewPanel({ preview: { name, content, plan }, isBusy, onApply, onCancel }: PreviewPanelProps) {
  const { created, updated, unchanged, rejected } = plan;
  const count = created.length + updated.length;
  return (
    <div class="file-preview" role="region" aria-label={t.preview(name)}>
      <h4>{t.preview(name)}</h4>
      <dl class="file-counts">
        <Count name={t.created} value={created.length} />
        <Count name={t.updated} value={updated.length} />
        <Count name={t.unchanged} value={unchanged} />
        <Count name={t.rejected} value={rejected.length} isBad={rejected.length > 0} />
      </dl>
      {content.shopify && (
        <ul class="file-notes">
          {describeShopify(content.shopify)
            .split('; ')
            .map((note) => (
              <li key={note}>{note.charAt(0).toUpperCase() + note.slice(1)}.</li>
            ))}
        </ul>
      )}
      <RejectedList rejected={rejected} />
      <PlannedList title={t.updated} rows={updated} />
      <PlannedList title={t.created} rows={created} />
      <div class="button-row">
        <button type="button" class="button" disabled={isBusy} onClick={onCancel}>
          {texts.cancel}
        </button>
        <button type="button" class="button button-primary" disabled={isBusy || count === 0} onClick={onApply}>
          {t.apply(formatCount(count))}
        </button>
      </div>
    </div>
  );
}

function Count({ name, value, isBad = false }: { name: string; value: number; isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? 'bad' : undefined}>{formatCount(value)}</dd>
    </div>
  );
}

function PlannedList({ title, rows }: { title: string; rows: readonly PlannedRow[] }) {
  if (rows.length === 0) return null;
  return (
    <details class="file-list" open={rows.length <= SHOWN_MAX && rows.some(({ before }) => before !== null)}>
      <summary>
        {title} ({formatCount(rows.length)})
      </summary>
      <ul tabIndex={0}>
        {rows.slice(0, SHOWN_MAX).map(({ line, name, row, changes }) => (
          <li key={line}>
            <span class="muted">{t.line(line)}</span> <strong>{name}</strong>{' '}
            {changes.length === 0 && <span class="muted">{[row.price, row.sku].filter(Boolean).join(' · ')}</span>}
            {changes.map(({ field, before, after }) => (
              <span key={field} class="file-change">
                {toFieldName(field)}: <del>{before === '' ? texts.empty : before}</del>{' '}
                <ins>{after === '' ? texts.empty : after}</ins>
              </span>
            ))}
          </li>
        ))}
      </ul>
      {rows.length > SHOWN_MAX && <p class="muted">{t.more(formatCount(rows.length - SHOWN_MAX))}</p>}
    </details>
  );
}

function RejectedList({ rejected }: { rejected: readonly Rejected[] }) {
  if (rejected.length === 0) return null;
  return (
    <details class="file-list" open>
      <summary class="bad">
        {t.rejected} ({formatCount(rejected.length)})
      </summary>
      <ul tabIndex={0}>
        {rejected.slice(0, SHOWN_MAX).map(({ line, reason }) => (
          <li key={`${line} ${reason}`}>
            <span class="muted">{t.line(line)}</span> {reason}
          </li>
        ))}
      </ul>
      {rejected.length > SHOWN_MAX && <p class="muted">{t.more(formatCount(rejected.length - SHOWN_MAX))}</p>}
    </details>
  );
}

function AppliedPanel({ applied: { created, updated, rejected } }: { applied: Applied }) {
  const isBad = rejected.length > 0;
  return (
    <>
      <p class={isBad ? 'note note-bad' : 'note note-good'} role="status">
        {isBad ? <WarningIcon /> : <CheckIcon />}
        <span>{t.applied(formatCount(created), formatCount(updated), formatCount(rejected.length))}</span>
      </p>
      <RejectedList rejected={rejected} />
    </>
  );
}

function toFieldName(field: string): string {
  const names: Readonly<Record<string, string>> = { ...texts.product.fields, ...t.fields };
  return Object.hasOwn(names, field) ? (names[field] ?? field) : field;
}

function Export({ session }: { session: ShopSession }) {
  const [shop, setShop] = useState('');
  const [progress, setProgress] = useState<string | null>(null);
  const { save, isSaving, error } = useSaving(async (format: keyof typeof MIME_TYPES) => {
    try {
      const products = await readAllProducts(session, (done, all) =>
        setProgress(t.reading(formatCount(done), formatCount(all))),
      );
      const groups = toGroups(products);
      const name = shop.trim() === '' ? null : shop.trim();
      const parts: string[] = [];
      for await (const part of format === 'csv' ? toShopifyCsv(groups) : toNdjsonLines(groups, name)) parts.push(part);
      download(new Blob(parts, { type: MIME_TYPES[format] }), `products.${format}`);
      setProgress(t.exported(formatCount(products.length)));
    } catch (cause) {
      setProgress(null);
      throw cause;
    }
  });
  return (
    <section class="panel form-part files-part" aria-labelledby="export">
      <h3 id="export">{t.export}</h3>
      <p class="muted">{t.exportText}</p>
      <div class="button-row button-row-start">
        <button type="button" class="button" disabled={isSaving} onClick={() => void save('csv')}>
          {t.shopify}
        </button>
        <button type="button" class="button" disabled={isSaving} onClick={() => void save('ndjson')}>
          {t.ndjson}
        </button>
      </div>
      <TextField label={t.shop} hint={t.shopHint} name="shop" value={shop} onChange={setShop} />
      <p role="status" class="outcome">
        {error === null ? progress : <span class="bad">{describeFailedChange(error)}</span>}
      </p>
    </section>
  );
}

/** The variants of a group stand together, at the place of the first of them. */
async function* toGroups(products: readonly Product[]): AsyncGenerator<Product[]> {
  const groups = new Map<string, Product[]>();
  for (const product of products) {
    const key = product.groupId === null ? `product ${product.id}` : `group ${product.groupId}`;
    const group = groups.get(key);
    if (group) group.push(product);
    else groups.set(key, [product]);
  }
  for (const group of groups.values()) yield await Promise.resolve(group);
}

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the content after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
