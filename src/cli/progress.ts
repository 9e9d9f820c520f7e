// Shows how far a long piece of work is: one line drawn again and again on a terminal, a new line every few seconds
// elsewhere. It must never write where the results go.

export type ProgressStream = { write(text: string): unknown; isTTY?: boolean; columns?: number };

export type Progress = {
  /** `done` and `total` are bytes, total null where it is not known; `words` says the rest. */
  update(state: { done: number; total: number | null; words: string }): void;
  /** Writes a line of its own above the progress line. */
  print(line: string): void;
  /** Takes the progress line away. */
  clear(): void;
};

const REDRAW_MS = 100;
const LINE_PERIOD_MS = 5_000;
const BAR_WIDTH = 24;
const COLUMNS_DEFAULT = 80;
const CLEAR_LINE = '\r\u001b[K';

export function createProgress(stream: ProgressStream, clock: () => number = () => performance.now()): Progress {
  const periodMs = stream.isTTY ? REDRAW_MS : LINE_PERIOD_MS;
  // Elsewhere than on a terminal, work that is done within one period says nothing on the way.
  let shownAt = stream.isTTY ? -Infinity : clock();
  let shown = false;
  const clear = () => {
    if (shown) stream.write(CLEAR_LINE);
    shown = false;
  };
  return {
    update: (state) => {
      if (clock() - shownAt < periodMs) return;
      shownAt = clock();
      if (!stream.isTTY) {
        stream.write(`${toLine(state)}\n`);
        return;
      }
      const columns = (stream.columns ?? COLUMNS_DEFAULT) - 1;
      stream.write(`${CLEAR_LINE}${toBar(state, toLine(state), columns).slice(0, columns)}`);
      shown = true;
    },
    print: (line) => {
      clear();
      stream.write(`${line}\n`);
    },
    clear,
  };
}

type State = Parameters<Progress['update']>[0];

function toLine({ done, total, words }: State): string {
  return total ? `${Math.min(100, Math.floor((done / total) * 100))}%, ${words}` : words;
}

function toBar({ done, total }: State, line: string, columns: number): string {
  if (!total || columns < BAR_WIDTH + line.length + 3) return line;
  const filled = Math.min(BAR_WIDTH, Math.round((done / total) * BAR_WIDTH));
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${line}`;
}
