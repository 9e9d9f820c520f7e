// A badge that says whether a reservation is held, or how it has ended.

import type { ReservationStatus } from '../../data/shop-queries.ts';
import { texts } from '../texts.ts';

const BADGES: Readonly<Record<ReservationStatus, string>> = {
  held: 'badge badge-warn',
  consumed: 'badge badge-good',
  released: 'badge',
  expired: 'badge badge-bad',
};

export function ReservationState({ status }: { status: ReservationStatus }) {
  return <span class={BADGES[status]}>{texts.reservations.statuses[status]}</span>;
}
