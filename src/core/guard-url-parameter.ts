/** Query parameter in the URL of every custom guard module, so that the stack of its errors identifies it. */
export const GUARD_URL_PARAMETER = 'trunkline-guard';
