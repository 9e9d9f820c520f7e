// Detects from the header of a CSV file how its cells are separated and quoted.

const LF = 0x0a;
const CR = 0x0d;

export type CsvDialect = {
  delimiter: ',' | ';' | '\t' | '|';
  quote: '"' | "'";
  /** Whether a space follows each delimiter, as in `id, name`. This space is not part of the cell. */
  spaced: boolean;
  /** Whether lines end with CR alone, as in files of old Mac programs. */
  crOnly: boolean;
  /** Whether the first line is `sep=` and the delimiter, as Excel writes it. The header is then the second line. */
  hasSepLine: boolean;
};

/** The header must end within this many bytes. */
const HEADER_SIZE_MAX = 64 * 1024;

const DELIMITERS = [',', ';', '\t', '|'] as const;
const SEP_LINE = /^\u{feff}?"?sep=([,;\t|])"?\r?$/iu;

/** Whether the beginning of a file is enough to detect its dialect. */
export function isHeaderComplete(head: Uint8Array): boolean {
  if (head.length >= HEADER_SIZE_MAX) return true;
  const text = Buffer.from(head).toString();
  const sepLineEnd = /^\u{feff}?"?sep=/iu.test(text) ? text.indexOf('\n') + 1 : 0;
  return text.includes('\n', sepLineEnd);
}

/** Detects the dialect. `head` is the beginning of the file and contains the whole header, if the header is not too long. */
export function detectDialect(head: Uint8Array): CsvDialect {
  const bytes = Buffer.from(head).subarray(0, HEADER_SIZE_MAX);
  const crOnly = bytes.includes(CR) && !bytes.includes(LF);
  const lines = bytes.toString().split(crOnly ? '\r' : '\n');
  const sep = SEP_LINE.exec(lines[0] ?? '')?.[1];
  const header = (lines[sep === undefined ? 0 : 1] ?? '').replace(/^\u{feff}/u, '').trimEnd();
  const quote = /^\s*'[^']*'\s*(?:[,;\t|]|$)/.test(header) ? "'" : '"';
  const bare = header.replaceAll(quote === '"' ? /"[^"]*"/g : /'[^']*'/g, 'x');
  const delimiter = DELIMITERS.find((known) => known === sep) ?? findDelimiter(bare);
  const further = bare.split(delimiter).slice(1);
  const spaced = delimiter !== '\t' && further.length > 0 && further.every((cell) => cell.startsWith(' '));
  return { delimiter, quote, spaced, crOnly, hasSepLine: sep !== undefined };
}

/** The delimiter that occurs most often in the header. */
function findDelimiter(header: string): CsvDialect['delimiter'] {
  const count = (delimiter: string) => header.split(delimiter).length;
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

const DELIMITER_NAMES = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' } as const;

/** Describes, for messages, how the dialect differs from commas, double quotes and usual line ends. Empty if it does not differ. */
export function describeDialect({ delimiter, quote, crOnly }: CsvDialect): string[] {
  return [
    ...(delimiter === ',' ? [] : [`cells are separated by ${DELIMITER_NAMES[delimiter]}`]),
    ...(quote === '"' ? [] : ['cells are quoted with single quotes']),
    ...(crOnly ? ['lines end with CR'] : []),
  ];
}

/** Yields the chunks of a source with LF in place of each CR. */
export async function* withLineFeeds(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield chunk.map((byte) => (byte === CR ? LF : byte));
}
