import { asObject } from './schema-field.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const SECRET_NAME =
  /key|token|secret|passw|pwd|passphrase|auth|credential|cookie|bearer|private|otp|\bpin\b/i;
/** The formats of well-known credentials: key prefixes of services, JSON web tokens, PEM blocks, headers, and URLs with a password. */
const SECRET_VALUE =
  /\b(?:sk|pk|rk|gh[opsur]|github_pat|glpat|xox[abeprs]|npm|AKIA|ASIA|AIza)[-_]?[\w-]{12,}|\beyJ[\w-]{8,}\.[\w-]+|-----BEGIN|\b(?:Bearer|Basic) \S{8,}|:\/\/[^/\s:@]*:[^/\s@]+@/;
/** A long text without spaces in which letters and digits alternate, as random texts do. */
const RANDOM_TEXT = /^(?=(?:[^\d]*\d){4})(?=(?:[^a-z]*[a-z]){4})[\w+/=-]{28,}$/i;
const MAX_DEPTH = 8;

/**
 * Returns a value without the members that may be secrets, by their names, schemas or values. What looks like a secret only by accident is
 * left out, too.
 */
export function withoutSecrets(value: JsonObject, schema: JsonObject): JsonObject {
  return keepMembers(value, schema, 0);
}

function keepMembers(value: JsonObject, schema: JsonObject, depth: number): JsonObject {
  const schemas = asObject(schema['properties']) ?? {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const memberSchema = (Object.hasOwn(schemas, name) ? asObject(schemas[name]) : undefined) ?? {};
      if (SECRET_NAME.test(name) || isSecretSchema(memberSchema)) return [];
      const kept = keepValue(member, memberSchema, depth + 1);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

function keepValue(value: unknown, schema: JsonObject, depth: number): unknown {
  if (depth > MAX_DEPTH) return undefined;
  if (typeof value === 'string')
    return SECRET_VALUE.test(value) || RANDOM_TEXT.test(value) ? undefined : value;
  if (Array.isArray(value)) {
    const items = asObject(schema['items']) ?? {};
    return value.flatMap((item: unknown) => keepValue(item, items, depth + 1) ?? []);
  }
  const members = asObject(value);
  return members === undefined ? value : keepMembers(members, schema, depth);
}

function isSecretSchema({ format, writeOnly }: JsonObject): boolean {
  return format === 'password' || writeOnly === true;
}
