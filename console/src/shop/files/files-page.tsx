// Imports products from files, with a preview of what would change, and exports all products of the shop to a file.

import type { VNode } from 'preact';
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
      <h2 class="shop-title">{t.title}</h2>
      <div class="files">
        <Import session={session} />
        <Export session={session} />
      </div>
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
    <section class="panel form-part" aria-labelledby="import">
      <h3 id="import">{t.import}</h3>
      <FileChoice isBusy={isBusy} isSmall={preview !== null} onChoose={(file) => void reading.save(file)} />
      {preview === null && <p class="muted">{t.importText}</p>}
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

type FileChoiceProps = { isBusy: boolean; isSmall: boolean; onChoose: (file: File) => void };

/** A field for a file, onto which a file can also be dropped. */
function FileChoice({ isBusy, isSmall, onChoose }: FileChoiceProps) {
  const [isOver, setOver] = useState(false);
  return (
    <label
      class={['file-choice', isSmall && 'file-choice-small', isOver && 'file-choice-over'].filter(Boolean).join(' ')}
      onDragOver={(event) => {
        // Without this, the browser opens the dropped file in place of the page.
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer?.files ?? [];
        if (file && !isBusy) onChoose(file);
      }}
    >
      <span>{t.drop}</span>
      <span class="button">{t.choose}</span>
      <input
        class="visually-hidden"
        type="file"
        name="file"
        accept=".csv,.ndjson,.jsonl,.json,text/csv"
        disabled={isBusy}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          // The same file can be chosen again after it was corrected.
          event.currentTarget.value = '';
          if (file) onChoose(file);
        }}
      />
    </label>
  );
}

type PreviewPanelProps = { preview: Preview; isBusy: boolean; onApply: () => void; onCancel: () => void };

function PreviewPanel({ preview: { name, content, plan }, isBusy, onApply, onCancel }: PreviewPanelProps) {
  const { created, updated, unchanged, rejected } = plan;
  const count = created.length + updated.length;
  return (
    <div class="file-preview" role="region" aria-label={t.preview(name)}>
      <div class="toolbar">
        <h4>{t.preview(name)}</h4>
        <div class="button-row">
          <button type="button" class="button" disabled={isBusy} onClick={onCancel}>
            {texts.cancel}
          </button>
          <button type="button" class="button button-primary" disabled={isBusy || count === 0} onClick={onApply}>
            {t.apply(formatCount(count))}
          </button>
        </div>
      </div>
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
      <UpdatedList rows={updated} />
      <CreatedList rows={created} />
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

type FileListProps = { title: string; count: number; heads: readonly string[]; isOpen: boolean; isBad?: boolean };

/** A list of the preview as a table. `children`: at most SHOWN_MAX rows. */
function FileList({ title, count, heads, isOpen, isBad = false, children }: FileListProps & { children: VNode[] }) {
  if (count === 0) return null;
  return (
    <details class="file-list" open={isOpen}>
      <summary class={isBad ? 'bad' : undefined}>
        {title} ({formatCount(count)})
      </summary>
      <div class="file-rows" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
      {count > SHOWN_MAX && <p class="muted">{t.more(formatCount(count - SHOWN_MAX))}</p>}
    </details>
  );
}

/** Each changed field is a row. The first row of a product names it. */
function UpdatedList({ rows }: { rows: readonly PlannedRow[] }) {
  return (
    <FileList
      title={t.updated}
      count={rows.length}
      heads={[t.lineHead, texts.stock.product, t.field, t.inShop, t.inFile]}
      isOpen={rows.length <= SHOWN_MAX}
    >
      {rows.slice(0, SHOWN_MAX).flatMap(({ line, name, changes }) =>
        changes.map(({ field, before, after }, index) => (
          <tr key={`${line} ${field}`}>
            {index === 0 && (
              <>
                <td class="muted" rowSpan={changes.length}>
                  {line}
                </td>
                <th scope="row" rowSpan={changes.length}>
                  {name}
                </th>
              </>
            )}
            <td>{toFieldName(field)}</td>
            <td>
              <del>{before === '' ? texts.empty : before}</del>
            </td>
            <td>
              <ins>{after === '' ? texts.empty : after}</ins>
            </td>
          </tr>
        )),
      )}
    </FileList>
  );
}

function CreatedList({ rows }: { rows: readonly PlannedRow[] }) {
  const { price, sku, inventory } = texts.product.fields;
  return (
    <FileList
      title={t.created}
      count={rows.length}
      heads={[t.lineHead, texts.stock.product, price, sku, inventory]}
      isOpen={rows.length <= SHOWN_MAX}
    >
      {rows.slice(0, SHOWN_MAX).map(({ line, name, row }) => (
        <tr key={line}>
          <td class="muted">{line}</td>
          <th scope="row">{name}</th>
          <td>{row.price}</td>
          <td>{row.sku}</td>
          <td>{row.inventory}</td>
        </tr>
      ))}
    </FileList>
  );
}

function RejectedList({ rejected }: { rejected: readonly Rejected[] }) {
  return (
    <FileList title={t.rejected} count={rejected.length} heads={[t.lineHead, t.reason]} isOpen isBad>
      {rejected.slice(0, SHOWN_MAX).map(({ line, reason }) => (
        <tr key={`${line} ${reason}`}>
          <td class="muted">{line}</td>
          <td>{reason}</td>
        </tr>
      ))}
    </FileList>
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
    <section class="panel form-part" aria-labelledby="export">
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
