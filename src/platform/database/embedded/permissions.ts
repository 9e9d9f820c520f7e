// Says which user owns the data directory, if this process may not use it because it runs as another user.

import { readFileSync, statSync } from 'node:fs';
import { OperatorError } from '../../core/errors.ts';

const NOT_PERMITTED = new Set(['EACCES', 'EPERM']);

/** Calls `use`. If `use` fails because another user owns the data directory, throws an OperatorError that names this user. */
export function describingPermissions<T>(directory: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!NOT_PERMITTED.has((error as { code?: string }).code ?? '')) throw error;
    const owner = findOwner(directory);
    const whose = owner === null ? 'may not be opened by this user' : `belongs to user ${owner}`;
    const user = owner === null ? 'the user of the service' : 'this user';
    throw new OperatorError(`the data directory ${directory} ${whose}: run the command as ${user}`, { cause: error });
  }
}

/** The name of the user who owns the file, or the user's id if /etc/passwd does not name the user. Null if this user may not know it. */
function findOwner(file: string): string | null {
  try {
    const { uid } = statSync(file);
    return findUserName(uid) ?? String(uid);
  } catch {
    // A directory above the file may not be searched by this user.
    return null;
  }
}

function findUserName(uid: number): string | null {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n');
    return users.map((line) => line.split(':')).find((fields) => Number(fields[2]) === uid)?.[0] ?? null;
  } catch {
    // Not every system has this file.
    return null;
  }
}
