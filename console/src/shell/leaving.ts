// Asks the user before a page with unsaved changes is left. Everything in the console that opens another page calls `leave`.

/** `ask` calls `proceed` if the user agrees. */
type Guard = { url: string; ask: (proceed: () => void) => void };

let guard: Guard | null = null;

/** While a page has unsaved changes, it is guarded. Returns the function that ends the guard. */
export function guardPage(ask: Guard['ask']): () => void {
  const own = { url: location.href, ask };
  guard = own;
  return () => {
    if (guard === own) guard = null;
  };
}

export function leave(proceed: () => void): void {
  if (guard) guard.ask(proceed);
  else proceed();
}

// The browser has already gone to another entry of its history, so the page returns to the form. This listener is added before that of the
// router, and the router does not learn of the entry.
window.addEventListener('popstate', (event) => {
  if (!guard) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', guard.url);
  guard.ask(() => history.back());
});
