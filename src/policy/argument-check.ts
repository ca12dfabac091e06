import { Ajv } from 'ajv';
import type { ErrorObject, Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { nearest } from '../lib/nearest.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { boundedPattern } from './bounded-pattern.ts';
import { isAffordable } from './schema-cost.ts';

/** What is wrong with arguments, field by field; empty when nothing is. */
export type ArgumentCheck = (args: unknown) => readonly string[];

const MAX_PROBLEMS = 5;
/** Of what is found wrong, so much is put into words; arguments may be wrong a million times. */
const MAX_READ = 50;
/** Of names that somebody else chose. */
const MAX_CHARACTERS = 100;
const MAX_NAMES = 500;

/** Schemas come from servers, so whatever they say must neither throw nor hang: what cannot be compiled is not enforced. */
export function argumentCheck(schema: unknown): ArgumentCheck | undefined {
  if (!isJsonObject(schema) || !isAffordable(schema)) return undefined;
  const { $schema: dialect, ...rest } = schema;
  try {
    const check = compilerOf(dialect).compile(withoutIds(rest));
    return (args) => {
      try {
        return check(args) ? [] : problemsOf(check.errors ?? [], rest['properties']);
      } catch {
        // Best effort: arguments that are nested too deeply to be checked are judged by the server.
        return [];
      }
    };
  } catch {
    // Best effort: the server judges what we cannot.
    return undefined;
  }
}

const OPTIONS: Options = {
  strict: false,
  // Checked schemas are those of a server; their own correctness is not ours to judge.
  validateSchema: false,
  meta: false,
  validateFormats: false,
  allErrors: true,
  inlineRefs: false,
  logger: false,
  code: { regExp: boundedPattern },
};

/** Without a dialect it is 2020-12, as the protocol has it. */
function compilerOf(dialect: unknown): Ajv {
  const isOld = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  return isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
}

/** An id at the top only says where the schema was published, and would move its own references away. */
function withoutIds({ $id: _, id: _id, ...schema }: JsonObject): JsonObject {
  return schema;
}

function problemsOf(errors: readonly ErrorObject[], properties: unknown): readonly string[] {
  // Branches of alternatives are told by the alternative itself, which comes last.
  const said = errors.slice(0, MAX_READ).map(({ instancePath, keyword, params, message }) => {
    if (keyword === 'required')
      return `${fieldOf(`${instancePath}/${pointerStep(params['missingProperty'])}`)} is required`;
    if (keyword === 'additionalProperties') {
      const name = String(params['additionalProperty']);
      return `${fieldOf(`${instancePath}/${pointerStep(name)}`)} is not known${instancePath === '' ? meant(name, properties) : ''}`;
    }
    const field = instancePath === '' ? 'the arguments' : fieldOf(instancePath);
    const allowed = keyword === 'enum' ? `: ${JSON.stringify(params['allowedValues']).slice(0, 300)}` : '';
    return `${field} ${message ?? 'does not fit'}${allowed}`;
  });
  return [...new Set(said)].slice(0, MAX_PROBLEMS);
}

function meant(name: string, properties: unknown): string {
  const known = isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_NAMES) : [];
  const [near] = nearest(
    name.slice(0, MAX_CHARACTERS),
    known.filter(({ length }) => length <= MAX_CHARACTERS),
    1,
  );
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function pointerStep(name: unknown): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** `/a/0/b` as `a[0].b`. */
function fieldOf(pointer: string): string {
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('');
  return path.replace(/^\./, '').slice(0, 200);
}
