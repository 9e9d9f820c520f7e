// Structured logs on standard error, with one JSON object per line. Standard output is for the results of commands.

import type { Logger } from 'pino';
import { pino } from 'pino';
import { describeError } from './errors.ts';
import { redact } from './redaction.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Record<string, unknown>;
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: Fields) => void>;

/**
 * Creates a log that drops messages less severe than `level`. Each line also contains `ownFields`. A field named `error` is written with
 * its causes and its stack. Secrets are removed from each line.
 */
export function createLog(
  level: LogLevel,
  write: (line: string) => void = writeToStderr,
  ownFields: Fields | null = null,
): Log {
  const logger = createPino(level, ownFields, (line) => write(escapeControls(redact(line.trimEnd()))));
  const writerOf =
    (name: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields: Fields = {}) =>
      logger[name](fields, message);
  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}

function createPino(level: LogLevel, ownFields: Fields | null, write: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: ownFields,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: describeErrorField },
    },
    { write },
  );
}

function describeErrorField({ error, ...fields }: Fields): Fields {
  if (error === undefined) return fields;
  const stack = error instanceof Error && error.stack ? { stack: error.stack } : {};
  return { ...fields, error: describeError(error), ...stack };
}

/** Characters that JSON text may contain, but that a terminal interprets as control characters or as the end of a line. */
const CONTROLS = /[\x7f-\x9f\u2028\u2029]/g;

function escapeControls(line: string): string {
  return line.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
