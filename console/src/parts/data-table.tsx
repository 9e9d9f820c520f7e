// A table whose rows are links. On a phone each row is a card of two lines. The elements have the ARIA roles of a table, and a CSS grid
// places the cells. The rows are in groups, so that the browser can skip the layout of the groups that are not visible.

import type { ComponentChildren } from 'preact';
import { Component } from 'preact';
import { openRow } from './open-row.ts';
import { Skeleton } from './states.tsx';
import { Link } from './link.tsx';
import './data-table.css';

export type SortOrder = 'asc' | 'desc';

export type Column<Row> = {
  id: string;
  head: ComponentChildren;
  /** The track of the grid, such as `minmax(160px, 2fr)`. */
  width: string;
  isNumber?: boolean;
  /**
   * The column is displayed only if the table has at least this width. The width of the window does not matter. On a phone `place` decides
   * instead.
   */
  from?: 'tablet' | 'desktop' | 'wide';
  /** Whether the column exists on a phone's card only. */
  isCardOnly?: boolean;
  /** The place on a phone's card: the picture, or a corner. A card does not show columns without a place. */
  place?: 'picture' | 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right';
  /** A label before the value on a phone's card. A card has no column heads. */
  placeLabel?: string;
  /** Whether the head is for screen readers only. */
  isHeadHidden?: boolean;
  /** The head of a column by which the rows can be sorted is a link to the sorted list. `order`: null if the rows are sorted by something else. */
  sort?: { href: string; order: SortOrder | null };
  cell: (row: Row) => ComponentChildren;
};

type TableProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Whether a row was added at the top while the table was displayed. The background of such a row fades once. */
  isNew?: (row: Row) => boolean;
  /** Whether rows are 40 pixels high, for lists that traders scan. On a phone, rows are cards. */
  isDense?: boolean;
  /** The number of placeholder rows after the loaded rows, while more rows are being loaded. */
  skeletons?: number;
};

const ARIA_SORTS = { asc: 'ascending', desc: 'descending' } as const;
const BREAKPOINTS = ['tablet', 'desktop', 'wide'] as const;
/**
 * The browser checks in each frame which groups are visible, so smaller groups cost more checks. When a group becomes visible, the browser
 * lays out all its rows at once, so larger groups cause longer frames.
 */
const ROWS_PER_GROUP = 10;
/**
 * The `isNew` of all groups except the first. When rows are added at the top, the last rows of each group move into the next group. Their
 * elements are created again in the next group, and must not fade a second time.
 */
const isNever = () => false;

export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  isNew = () => false,
  isDense = false,
  skeletons = 0,
}: TableProps<Row>) {
  const hasPicture = columns.some(({ place }) => place === 'picture');
  return (
    <div
      class={['table', !hasPicture && 'table-without-picture', isDense && 'table-dense'].filter(Boolean).join(' ')}
      role="table"
      aria-label={label}
      aria-busy={skeletons > 0}
      style={Object.fromEntries(BREAKPOINTS.map((name) => [`--tracks-${name}`, toTracks(columns, name)]))}
    >
      <div role="rowgroup" class="table-head">
        <div role="row" class="table-row">
          {columns.map((column) => (
            <div
              key={column.id}
              role="columnheader"
              class={toCellClass(column)}
              {...(column.sort?.order && { 'aria-sort': ARIA_SORTS[column.sort.order] })}
            >
              {column.sort ? (
                <Link href={column.sort.href} replace class="sort-head">
                  {column.head}
                </Link>
              ) : (
                <span class={column.isHeadHidden ? 'visually-hidden' : undefined}>{column.head}</span>
              )}
            </div>
          ))}
        </div>
      </div>
      <div class="table-body" role="presentation">
        {Array.from({ length: Math.ceil(rows.length / ROWS_PER_GROUP) }, (_, index) => (
          <RowGroup
            key={index}
            rows={rows.slice(index * ROWS_PER_GROUP, (index + 1) * ROWS_PER_GROUP)}
            columns={columns}
            keyOf={keyOf}
            isNew={index === 0 ? isNew : isNever}
          />
        ))}
        {skeletons > 0 && <SkeletonRows columns={columns} count={skeletons} />}
      </div>
    </div>
  );
}

type GroupProps<Row> = Required<Pick<TableProps<Row>, 'rows' | 'columns' | 'keyOf' | 'isNew'>>;

/** A group is rendered again only if its columns or rows change. So a list of 1,000 rows can grow without rendering all rows again. */
class RowGroup<Row> extends Component<GroupProps<Row>> {
  override shouldComponentUpdate({ rows, columns }: GroupProps<Row>): boolean {
    const { props } = this;
    return (
      columns !== props.columns ||
      rows.length !== props.rows.length ||
      rows.some((row, index) => row !== props.rows[index])
    );
  }

  override render() {
    const { rows, columns, keyOf, isNew } = this.props;
    return (
      <div role="rowgroup" class="table-group" style={{ '--rows': String(rows.length) }}>
        {rows.map((row) => (
          <TableRow key={keyOf(row)} row={row} columns={columns} isNew={isNew(row)} />
        ))}
      </div>
    );
  }
}

function SkeletonRows<Row>({ columns, count }: { columns: readonly Column<Row>[]; count: number }) {
  return (
    <div class="table-group" aria-hidden="true" style={{ '--rows': String(count) }}>
      {Array.from({ length: count }, (_, index) => (
        <div key={index} class="table-row">
          {columns.map((column) => (
            <div key={column.id} class={toCellClass(column)}>
              {column.place === 'picture' ? (
                <span class="skeleton picture-row" />
              ) : (
                <Skeleton width={column.isNumber ? '56px' : '60%'} />
              )}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

type RowProps<Row> = { row: Row; columns: readonly Column<Row>[]; isNew: boolean };

class TableRow<Row> extends Component<RowProps<Row>> {
  override shouldComponentUpdate({ row, columns }: RowProps<Row>): boolean {
    return row !== this.props.row || columns !== this.props.columns;
  }

  override render() {
    const { row, columns, isNew } = this.props;
    return (
      <div role="row" class={isNew ? 'table-row flash' : 'table-row'} onClick={openRow}>
        {columns.map((column) => (
          <div key={column.id} role="cell" class={toCellClass(column)} data-label={column.placeLabel}>
            {column.cell(row)}
          </div>
        ))}
      </div>
    );
  }
}

/** The link of a row. A click anywhere on the row opens the link. */
export function RowLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <Link href={href} class="row-link" data-row>
      {children}
    </Link>
  );
}

function toTracks<Row>(columns: readonly Column<Row>[], breakpoint: (typeof BREAKPOINTS)[number]): string {
  const rank = BREAKPOINTS.indexOf(breakpoint);
  return columns
    .filter(({ from = 'tablet', isCardOnly }) => !isCardOnly && BREAKPOINTS.indexOf(from) <= rank)
    .map(({ width }) => width)
    .join(' ');
}

function toCellClass<Row>({ isNumber, from, isCardOnly, place }: Column<Row>): string {
  return [
    'cell',
    isNumber && 'cell-number',
    from && `cell-from-${from}`,
    isCardOnly && 'cell-of-card',
    `place-${place ?? 'none'}`,
  ]
    .filter(Boolean)
    .join(' ');
}
