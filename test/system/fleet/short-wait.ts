/**
 * Announcements between gateways arrive within a second on an idle machine. Without them, gateways would notice a change only after three
 * seconds, so this time proves that the announcement arrived.
 */
export const shortWait = { withinMs: 2500 };
