// Makes a click anywhere on a row or card open its link. Elements with a tooltip lie above the link, so that the link does not get the click.

/** The click handler of the element that contains the link of the row. */
export function openRow(event: MouseEvent): void {
  const { target, currentTarget } = event;
  if (!(target instanceof Element) || !(currentTarget instanceof Element)) return;
  // A reader who selects an amount to copy it does not want to leave the page.
  if (target.closest('a, button') || getSelection()?.isCollapsed === false) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  const link = currentTarget.querySelector('a[data-row]');
  link?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }));
}
