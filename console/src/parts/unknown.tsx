// A dash in place of a value that is not known. The reason is shown as a tooltip, and screen readers read it.

export function Unknown({ reason }: { reason: string }) {
  return (
    <span class="unknown" data-tip={reason}>
      <span aria-hidden="true">–</span>
      <span class="visually-hidden">{reason}</span>
    </span>
  );
}
