/**
 * What gateways tell each other arrives within a second, on a machine that has nothing else to do; without being told they would look after
 * three.
 */
export const soon = { withinMs: 2500 };
