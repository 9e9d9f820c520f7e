// Shows the progress of a long command as one line that is redrawn. If the stream is not a terminal, no progress is shown. The stream of the
// results must never be used for progress.

export type ProgressStream = { write(text: string): unknown; isTTY?: boolean; columns?: number };

/** `done` and `total` are bytes. `total` is null if it is unknown. `text` follows the percentage in the line. */
export type ProgressState = { done: number; total: number | null; text: string };

const REDRAW_PERIOD_MS = 100;
/** The remaining time is shown only after this time, because earlier estimates are too inexact. */
const ESTIMATE_AFTER_MS = 3_000;
const BAR_WIDTH = 24;
const COLUMNS_DEFAULT = 80;
const CLEAR_LINE = '\r\u001b[K';

export class Progress {
  readonly #stream: ProgressStream;
  readonly #clock: () => number;
  readonly #startedAt: number;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  /** `clock` returns milliseconds and is never set back. */
  constructor(stream: ProgressStream, clock: () => number = () => performance.now()) {
    this.#stream = stream;
    this.#clock = clock;
    this.#startedAt = clock();
  }

  update(state: ProgressState): void {
    const now = this.#clock();
    if (!this.#stream.isTTY || now - this.#writtenAt < REDRAW_PERIOD_MS) return;
    this.#writtenAt = now;
    const columns = (this.#stream.columns ?? COLUMNS_DEFAULT) - 1;
    const text = `${state.text}${describeTimeLeft(state, now - this.#startedAt)}`;
    this.#stream.write(`${CLEAR_LINE}${toBar({ ...state, text }, columns).slice(0, columns)}`);
    this.#isDrawn = true;
  }

  /** Writes a line above the progress line. */
  print(line: string): void {
    this.clear();
    this.#stream.write(`${line}\n`);
  }

  clear(): void {
    if (this.#isDrawn) this.#stream.write(CLEAR_LINE);
    this.#isDrawn = false;
  }
}

/** Empty if the total is unknown, and in the first seconds. */
function describeTimeLeft({ done, total }: ProgressState, elapsedMs: number): string {
  if (!total || done === 0 || elapsedMs < ESTIMATE_AFTER_MS) return '';
  const seconds = Math.ceil((Math.max(0, total - done) / done) * (elapsedMs / 1_000));
  return seconds < 120 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}

function toLine({ done, total, text }: ProgressState): string {
  return total ? `${Math.min(100, Math.floor((done / total) * 100))}%, ${text}` : text;
}

function toBar(state: ProgressState, columns: number): string {
  const { done, total } = state;
  const line = toLine(state);
  if (!total || columns < BAR_WIDTH + line.length + 3) return line;
  const filled = Math.min(BAR_WIDTH, Math.round((done / total) * BAR_WIDTH));
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${line}`;
}

/** The progress of writing or reading a backup, `ms` after its start. */
export function describeRows({ table, rows }: { table: string; rows: number }, ms: number): string {
  if (rows === 0) return 'preparing';
  return `${rows} rows, ${Math.round((rows / Math.max(1, ms)) * 1_000)} rows a second, ${table}`;
}
