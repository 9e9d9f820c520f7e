// Collects the functions that close, drop or remove what the tests of an engine opened, and runs them when the suite of the engine ends.

const cleanups: (() => Promise<unknown> | void)[] = [];

export function onCleanUp(clean: () => Promise<unknown> | void): void {
  cleanups.push(clean);
}

/** Runs the registered functions in the reverse order of their registration. */
export async function cleanUp(): Promise<void> {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
}
