/** Query parameter in the URL of every custom guard module. It identifies the guard in the stack traces of its errors. */
export const GUARD_URL_PARAMETER = 'trunkline-guard';
