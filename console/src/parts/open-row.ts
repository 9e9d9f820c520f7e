// Makes a click anywhere on a row or card open its link. Without this, a click on an element with a tooltip would do nothing, because such
// an element lies above the link.

/** The click handler of a row or card. The row or card must contain its link. */
export function openRow(event: MouseEvent): void {
  const { target, currentTarget } = event;
  if (!(target instanceof Element) || !(currentTarget instanceof Element)) return;
  // A click that ends a selection of text must not leave the page: the user may want to copy an amount.
  if (target.closest('a, button, input, label') || getSelection()?.isCollapsed === false) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  const link = currentTarget.querySelector('a[data-row]');
  link?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }));
}
