/** Returns the object without its undefined members, where a key counts even without a value: in entries of a configuration file. */
export function omitUndefined(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
