// The dash that stands for a value that is not known, with the reason.

export function Unknown({ reason }: { reason: string }) {
  return (
    <span class="unknown" data-tip={reason}>
      <span aria-hidden="true">–</span>
      <span class="visually-hidden">{reason}</span>
    </span>
  );
}
