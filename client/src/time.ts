/** A time in a query: ISO 8601 with a time zone, or a Date. */
export type Time = string | Date
