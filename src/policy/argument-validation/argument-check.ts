import { findSimilar } from '../../core/lib/find-similar.ts';
import { isJsonObject } from '../../core/json.ts';
import { prepareSchema } from './prepare-schema.ts';
import { SchemaValidator } from './schema-validator.ts';
import type { SchemaProblem } from './schema-validator.ts';

export interface ArgumentProblem {
  readonly text: string;
  /** The parameter that has the problem; absent if the arguments as a whole have it. */
  readonly parameter: string | undefined;
}

/** Returns one problem per invalid field; an empty array for valid arguments. */
export type ArgumentCheck = (args: unknown) => readonly ArgumentProblem[];

const MAX_PROBLEMS = 5;
/** Limits for the search for a similar name, because models and servers choose the names. */
const MAX_NAME_LENGTH = 60;
const MAX_CANDIDATES = 200;
const MAX_PATH_LENGTH = 200;
const MAX_QUOTED_LENGTH = 300;

/**
 * Returns a function that checks arguments against an input schema. Schemas come from servers and arguments
 * from models, so neither may cause an exception or block the gateway. Returns undefined for a schema that
 * cannot be enforced. Arguments whose check takes too long pass; the server itself validates them.
 */
export function compileArgumentCheck(schema: unknown): ArgumentCheck | undefined {
  const prepared = isJsonObject(schema) ? prepareSchema(schema) : undefined;
  if (prepared === undefined) return undefined;
  const validator = new SchemaValidator(prepared);
  return (args) => {
    try {
      return describeProblems(validator.validate(args), prepared.root['properties']);
    } catch {
      // The budget or the stack is used up, so the server validates the arguments.
      return [];
    }
  };
}

function describeProblems(
  problems: readonly SchemaProblem[],
  properties: unknown,
): readonly ArgumentProblem[] {
  const described = new Map<string, ArgumentProblem>();
  for (const { path, keyword, message, member, allowed } of problems) {
    if (described.size === MAX_PROBLEMS) break;
    const field = fieldPath(member === undefined ? path : [...path, member]);
    const isUnknownArgument = keyword === 'additionalProperties' && path.length === 0;
    const suggestion = isUnknownArgument ? suggestName(String(member), properties) : '';
    const values = allowed === undefined ? '' : `: ${JSON.stringify(allowed).slice(0, MAX_QUOTED_LENGTH)}`;
    const text = `${field} ${message}${values}${suggestion}`;
    const [parameter = member] = path;
    described.set(text, { text, parameter: parameter === undefined ? undefined : String(parameter) });
  }
  return [...described.values()];
}

function suggestName(name: string, properties: unknown): string {
  const candidates = isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_CANDIDATES) : [];
  const [similar] = findSimilar(
    name.slice(0, MAX_NAME_LENGTH),
    candidates.filter(({ length }) => length <= MAX_NAME_LENGTH),
    1,
  );
  return similar === undefined ? '' : `; did you mean ${similar}?`;
}

/** Formats a path as `a[0].b`. */
function fieldPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) {
    if (text.length > MAX_PATH_LENGTH) break;
    if (typeof step === 'number') text += `[${step}]`;
    else text += `${text === '' ? '' : '.'}${step.slice(0, MAX_PATH_LENGTH)}`;
  }
  return path.length === 0 ? 'the arguments' : text.slice(0, MAX_PATH_LENGTH);
}
