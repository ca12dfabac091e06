import type { Stats } from 'node:fs';

/** The permission bits that let the group or others write. */
const OTHERS_WRITE = 0o022;

/** Whether only this user can have written the file. Always true on Windows, which has no user ids. */
export function isSafeOwner({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, user: number | undefined): boolean {
  return user === undefined || (uid === user && (mode & OTHERS_WRITE) === 0);
}
