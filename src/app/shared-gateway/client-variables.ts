import { isJsonObject } from '../../core/json.ts';

/** Values of environment variables by name. They are secrets: they stay in memory, and no message contains them. */
export type VariableValues = Readonly<Record<string, string>>;

/** A variable whose value at a client differs from the one that the gateway uses. */
export interface DifferingVariable {
  readonly name: string;
  /** Whether `${secret:…}` can replace the reference to the variable. */
  readonly canBeSecret: boolean;
}

/** A problem and what to do about it, each as a sentence. */
export interface ExplainedDifference {
  readonly problem: string;
  readonly fix: string;
}

/** Selects where the encryption key is stored. No configuration refers to it. */
export const KEYCHAIN_VARIABLE = 'TRUNKLINE_KEYCHAIN';

/** Limits of one client. Further variables are left out, so that the gateway reports them as not set. */
const MAX_VARIABLES = 1000;
const MAX_BYTES = 256 * 1024;

/**
 * Returns the variables that a configuration refers to and that are set in `env`, as a client brings them to its gateway.
 */
export function readClientVariables(
  configText: string,
  env: Readonly<Record<string, string | undefined>>,
): VariableValues {
  const names = [...findReferencedVariables(configText), ...listTokenVariables(env), KEYCHAIN_VARIABLE];
  const set = names.flatMap((name) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    return isVariableSet(name, value) ? [[name, value] as const] : [];
  });
  return keepWithinLimits(set);
}

/**
 * Whether a variable has a value. References treat an empty variable as unset, and some clients pass an unset variable as an empty string, or
 * as the reference that they could not replace.
 */
export function isVariableSet(name: string, value: string | undefined): value is string {
  return value !== undefined && !['', `\${${name}}`, `\${env:${name}}`].includes(value);
}

/** Checks the variables in a hello, which another process sent. */
export function parseClientVariables(value: unknown): VariableValues | undefined {
  if (!isJsonObject(value)) return undefined;
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  return keepWithinLimits(texts);
}

function keepWithinLimits(variables: readonly (readonly [string, string])[]): VariableValues {
  let bytes = 0;
  const kept = variables.slice(0, MAX_VARIABLES).filter((variable) => {
    const size = Buffer.byteLength(JSON.stringify(variable));
    const fits = bytes + size <= MAX_BYTES;
    if (fits) bytes += size;
    return fits;
  });
  return Object.fromEntries(kept);
}

/** Returns the names of the variables with first tokens of servers. No configuration refers to them. */
export function listTokenVariables(env: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(env).filter((name) => name.startsWith('TRUNKLINE_TOKENS_'));
}

/** Returns the names in `${NAME}` and `${env:NAME}` anywhere in the text. Does not parse the text; a superfluous name is harmless. */
export function findReferencedVariables(text: string): readonly string[] {
  const names = new Set<string>();
  for (const [, body = ''] of text.matchAll(/\$\{([^}]*)\}/g)) {
    if (/^(?:file|secret|keychain|cmd|op|vault|aws-sm):/.test(body)) continue;
    const [name = ''] = body.replace(/^env:/, '').split(':-');
    if (name !== '') names.add(name);
  }
  return [...names].toSorted();
}

/** Explains by name, never by value, which variables differ between the gateway and a client at `place`, such as "this shell". */
export function explainDifferences(
  differing: readonly DifferingVariable[],
  { place, kind }: { readonly place: string; readonly kind: 'background' | 'http' | 'own' },
): readonly ExplainedDifference[] {
  return [true, false].flatMap((canBeSecret) => {
    const names = differing
      .filter((variable) => variable.canBeSecret === canBeSecret)
      .map(({ name }) => name);
    if (names.length === 0) return [];
    const isOne = names.length === 1;
    const secret = isOne ? names[0] : 'NAME';
    const store = `, or store ${isOne ? 'it' : 'each'} once with trunkline secret set ${secret} and write \${secret:${secret}} in the configuration`;
    const shell = isOne ? 'that has it' : 'that has them';
    const start =
      kind === 'background'
        ? `run trunkline restart in a shell ${shell}`
        : `start the gateway again in a shell ${shell}`;
    return {
      problem: `${names.join(', ')} ${isOne ? 'has another value' : 'have other values'} in ${place} than in the running gateway, which keeps using its own.`,
      fix: `To use the other ${isOne ? 'value' : 'values'}, ${start}${canBeSecret ? store : ''}.`,
    };
  });
}
