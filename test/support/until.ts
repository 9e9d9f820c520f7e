// Waiting for a condition. The limit ends a test that hangs. It is never an expectation of speed.

/** Polls until the condition holds. After `limitMs`, throws an error with the message `what`. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs: number, what: string): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what} (waited ${limitMs} ms)`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
