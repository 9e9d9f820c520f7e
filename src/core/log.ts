// Structured logs on standard error, with one JSON object per line. Standard output is for the results of commands.

import { describeError } from './errors.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Record<string, unknown>;
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: Fields) => void>;

/** Creates a log that drops messages less severe than `level`. A field named `error` is written with its causes and stack. */
export function createLog(level: LogLevel, write: (line: string) => void = writeToStderr): Log {
  const severityMin = LOG_LEVELS.indexOf(level);
  const writerOf =
    (name: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields: Fields = {}) => {
      if (LOG_LEVELS.indexOf(name) < severityMin) return;
      const { error, ...rest } = fields;
      const entry = { time: new Date().toISOString(), level: name, message, ...rest };
      write(JSON.stringify(error === undefined ? entry : { ...entry, error: describeError(error), ...stackOf(error) }));
    };
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}

function stackOf(error: unknown): Fields {
  return error instanceof Error && error.stack ? { stack: error.stack } : {};
}

function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
