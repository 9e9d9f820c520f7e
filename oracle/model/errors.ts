// How a run ends other than by agreement.

/** The model and the service differ. */
export class Difference extends Error {}

/** The service did not respond, or not in time. Whether a write was made is not known then. */
export class Unavailable extends Error {}
