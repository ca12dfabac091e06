import type { Stats } from 'node:fs';

const OTHERS_WRITE = 0o022;

/** Whether nobody but this user can have written it; always, where users have no numbers. */
export function isOfUser({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, user: number | undefined): boolean {
  return user === undefined || (uid === user && (mode & OTHERS_WRITE) === 0);
}
