// Registers resources to close, drop or remove when the suite of an engine ends.

const cleanups: (() => Promise<unknown> | void)[] = [];

export function onCleanUp(clean: () => Promise<unknown> | void): void {
  cleanups.push(clean);
}

/** Runs the registered functions in the reverse order of their registration. */
export async function cleanUp(): Promise<void> {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
}
