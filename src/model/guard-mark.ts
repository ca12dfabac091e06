/** Stands in the address of every module that is a guard of a person's own, and so in the stack of what it throws. */
export const GUARD_MARK = 'trunkline-guard';
