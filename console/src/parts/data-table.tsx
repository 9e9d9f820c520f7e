// A table of rows that are links. On a phone each row is a card of two lines. The rows are grid rows with the roles of a table, so that
// the browser can skip the layout of rows outside the window.

import type { ComponentChildren } from 'preact';
import { Component } from 'preact';
import { Link } from 'wouter-preact';
import { openRow } from './open-row.ts';
import { Skeleton } from './states.tsx';

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
  /** Whether a row has come while the table was displayed. Its background fades once. */
  isNew?: (row: Row) => boolean;
  /** Rows that are being loaded are displayed as skeletons after the others. */
  skeletons?: number;
};

const BREAKPOINTS = ['tablet', 'desktop', 'wide'] as const;

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
      <div role="rowgroup" class="table-body">
        {rows.map((row) => (
          <TableRow key={keyOf(row)} row={row} columns={columns} isNew={isNew(row)} />
        ))}
        {Array.from({ length: skeletons }, (_, index) => (
          <div key={`skeleton-${index}`} role="row" class="table-row" aria-hidden="true">
            {columns.map((column) => (
              <div key={column.id} role="cell" class={toCellClass(column)}>
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
    </div>
  );
}

type RowProps<Row> = { row: Row; columns: readonly Column<Row>[]; isNew: boolean };

/** A row that stays as it is while its record is the same, so that a list of 1,000 rows grows without drawing all of them again. */
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
