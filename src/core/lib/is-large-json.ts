/**
 * Whether a JSON value has more than `maxMembers` members and items in all its objects and arrays. Stops counting at the first excess one.
 */
export function isLargeJson(value: unknown, maxMembers: number): boolean {
  const pending = [value];
  let members = 0;
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    for (const key in node) {
      members += 1;
      if (members > maxMembers) return true;
      pending.push((node as Record<string, unknown>)[key]);
    }
  }
  return false;
}
