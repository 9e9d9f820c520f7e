// The operations on imports behind the command `mercat imports`.

import { OperatorError } from '../platform/core/errors.ts';
import { readImports } from './undo/list-imports.ts';
import type { UndoContext, UndoPart, UndoPosition } from './undo/undo-import.ts';
import { previewUndo, undoPart } from './undo/undo-import.ts';

type Input = Readonly<Record<string, unknown>>;

/** The largest number of imports in the list. */
const IMPORTS_LISTED_MAX = 100;
/** The approximate duration of one part of an undo. The command shows its progress and can be stopped between two parts. */
const PART_MS = 500;

/** The operations by name. Inputs and results are JSON. An operation throws OperatorError for a wrong input. */
export function createImportOperations(context: UndoContext) {
  return {
    'imports.list': () => readImports(context, IMPORTS_LISTED_MAX),
    /** Undoes a part of an import. The caller repeats the call with `next` as `position` until `next` is null. */
    'imports.undo': (input: Input): Promise<UndoPart> => {
      const { id } = input;
      if (typeof id !== 'string') throw new OperatorError('id must be text', { exitCode: 2 });
      if (input['dryRun'] === true) return previewUndo(context, id);
      const position = readPosition(input['position']);
      return undoPart(context, id, { ...(position && { position }), budgetMs: PART_MS });
    },
  };
}

function readPosition(value: unknown): UndoPosition | null {
  if (value === undefined || value === null) return null;
  const { schema, before } = value as Partial<UndoPosition>;
  const isNumbered = before === null || (typeof before === 'number' && Number.isSafeInteger(before));
  if ((schema === 'main' || schema === 'indexer') && isNumbered) return { schema, before };
  throw new OperatorError('position must be the value of next in the result of the previous call', { exitCode: 2 });
}
