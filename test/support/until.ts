// Waits for a condition. The time limit only ends a test that hangs. It is not a requirement of speed.

/** Polls until the condition holds. After `limitMs`, throws an error whose message begins with `what`. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs: number, what: string): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what} (waited ${limitMs} ms)`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
