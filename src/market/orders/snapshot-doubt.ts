// Decides whether a list of a marketplace is accepted that lacks stored listings or bids: a list that lacks many of them is probably incomplete.

/**
 * A list is short when more than `smallBookMax` rows were expected and less than the share `shareLeftMin` of them is present. A short
 * list is accepted only if `doubtsMin` or more lists in a row were short, this list included. The first of these lists must be at least
 * `doubtMs` old.
 */
export type SnapshotLimits = { smallBookMax: number; shareLeftMin: number; doubtsMin: number; doubtMs: number };

/** `doubted`: the list was short and was not accepted, so nothing was retired. */
export type SnapshotOutcome = { retired: number; doubted: boolean };

/**
 * `doubts`: how many consecutive lists, up to the latest list, were too short and therefore not accepted. `doubtedSince`: when the first of
 * these lists was made, in milliseconds.
 */
export type SnapshotDoubt = { doubts: number; doubtedSince: number | null };

export const NO_DOUBT: SnapshotDoubt = { doubts: 0, doubtedSince: null };

/**
 * `expected`: how many active rows the list should contain. `present`: how many of these rows the list contains. `before`: the
 * short lists directly before this list.
 */
export function judgeSnapshot(
  { expected, present, takenAt }: { expected: number; present: number; takenAt: number },
  before: SnapshotDoubt,
  limits: SnapshotLimits,
): SnapshotDoubt & { isAccepted: boolean } {
  const isShort = expected > limits.smallBookMax && present < expected * limits.shareLeftMin;
  if (!isShort) return { ...NO_DOUBT, isAccepted: true };
  const doubts = before.doubts + 1;
  const doubtedSince = before.doubtedSince ?? takenAt;
  const isAccepted = doubts >= limits.doubtsMin && takenAt - doubtedSince >= limits.doubtMs;
  return isAccepted ? { ...NO_DOUBT, isAccepted } : { doubts, doubtedSince, isAccepted };
}
