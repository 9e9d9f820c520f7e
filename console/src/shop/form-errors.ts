// Converts an error of the service to messages beside the fields of a form.

import { MercatError } from '../../../client/src/store.ts';
import { describeFailedChange } from '../data/errors.ts';

export type FormFailure = {
  /** The error messages, by the name of the field. */
  fields: Readonly<Record<string, string>>;
  /** Null if the errors of the fields say everything. */
  message: string | null;
};

const NO_FAILURE: FormFailure = { fields: {}, message: null };

/** Null stands for no error. A detail names a field by a path, such as `moreImages/0`. */
export function toFormFailure(error: unknown): FormFailure {
  if (error === null) return NO_FAILURE;
  const details = error instanceof MercatError && error.code === 'bad_request' ? error.details : [];
  const fields = Object.fromEntries(
    details.map(({ path, message }) => [path.split(/[./[]/).find((part) => part !== '') ?? path, sentence(message)]),
  );
  return { fields, message: details.length > 0 ? null : describeFailedChange(error) };
}

/** One sentence for a failed change of a row, which has no place for messages beside several fields. */
export function describeRowError(error: unknown): string {
  const [detail] = error instanceof MercatError ? error.details : [];
  return detail ? sentence(detail.message) : describeFailedChange(error);
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
