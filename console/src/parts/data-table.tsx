// A table of rows that are links. On a phone each row is a card of two lines. The rows are grid rows with the roles of a table, in groups, so
// that the browser can skip the layout of groups outside the window.

import type { ComponentChildren } from 'preact';
import { Component } from 'preact';
import { openRow } from './open-row.ts';
import { Skeleton } from './states.tsx';
import { Link } from './link.tsx';

export type Column<Row> = {
  id: string;
  head: ComponentChildren;
  /** The track of the grid, such as `minmax(160px, 2fr)`. */
  width: string;
  isNumber?: boolean;
  /** The narrowest table in which the column is displayed: its own width counts, not that of the window. On a phone `place` decides instead. */
  from?: 'tablet' | 'desktop' | 'wide';
  /** Whether the column exists on a phone's card only. */
  isCardOnly?: boolean;
  /** The place on a phone's card: the picture, or a corner. Columns without a place are left out. */
  place?: 'picture' | 'top-left' | 'top-right' | 'bottom-left' | 'bottom-right';
  /** A word before the value on a phone's card, where the head is not displayed. */
  placeLabel?: string;
  /** Whether the head is for screen readers only. */
  isHeadHidden?: boolean;
  cell: (row: Row) => ComponentChildren;
};

type TableProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Whether a row has come while the table was displayed, at its top. Its background fades once. */
  isNew?: (row: Row) => boolean;
  /** Rows that are being loaded are displayed as skeletons after the others. */
  skeletons?: number;
};

const BREAKPOINTS = ['tablet', 'desktop', 'wide'] as const;
/** Each group costs the browser a check for each frame, and is laid out and drawn as one when it comes into the window. */
const ROWS_PER_GROUP = 10;
/** A row that newer rows have moved into the next group must not fade again. */
const isNever = () => false;

export function DataTable<Row>({ label, columns, rows, keyOf, isNew = () => false, skeletons = 0 }: TableProps<Row>) {
  return (
    <div
      class={columns.some(({ place }) => place === 'picture') ? 'table' : 'table table-without-picture'}
      role="table"
      aria-label={label}
      aria-busy={skeletons > 0}
      style={Object.fromEntries(BREAKPOINTS.map((name) => [`--tracks-${name}`, toTracks(columns, name)]))}
    >
      <div role="rowgroup" class="table-head">
        <div role="row" class="table-row">
          {columns.map((column) => (
            <div key={column.id} role="columnheader" class={toCellClass(column)}>
              <span class={column.isHeadHidden ? 'visually-hidden' : undefined}>{column.head}</span>
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

/** Rows that stay as they are while their records are the same, so that a list of 1,000 rows grows without drawing all of them again. */
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
                <Skeleton width="40px" height="40px" />
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

/** The link of a row. Its area is the complete row. */
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
