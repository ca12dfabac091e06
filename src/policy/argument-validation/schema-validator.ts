import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { createBoundedPattern } from './bounded-pattern.ts';
import type { BoundedPattern } from './bounded-pattern.ts';
import { Evaluation } from './evaluation.ts';
import type { PreparedSchema } from './prepare-schema.ts';
import { StepBudget, UndecidedError } from './step-budget.ts';
import { ValueComparison } from './value-comparison.ts';
import { isMultiple, isOfType } from './value-types.ts';

/** One violation of a schema. */
export interface SchemaProblem {
  /** Names of members and indexes of items that lead to the value. */
  readonly path: readonly (string | number)[];
  readonly keyword: string;
  readonly message: string;
  /** The missing or unknown member. */
  readonly member?: string;
  /** The values that `enum` allows. */
  readonly allowed?: readonly unknown[];
}

/** Maximum number of steps per validation. They take about 20 ms on an idle machine. */
const MAX_STEPS = 150_000;
/** Maximum number of problems that are collected, because large arguments may contain a million of them. */
const MAX_PROBLEMS = 50;
/** Maximum depth of the recursion. Deeper values are left to the server, because they could overflow the stack. */
const MAX_DEPTH = 300;
const MAX_QUOTED_LENGTH = 300;

/**
 * Validates values against a schema by interpreting it. A schema compiler (Ajv) needs about a millisecond per subschema, compares items
 * and matches patterns without a limit, and cannot be interrupted. Here, each keyword spends steps of one budget per validation.
 */
export class SchemaValidator {
  readonly #schema: PreparedSchema;
  readonly #patterns = new Map<string, BoundedPattern>();
  readonly #weights = new WeakMap<object, number>();

  constructor(schema: PreparedSchema) {
    this.#schema = schema;
  }

  /** Returns the problems of a value; none if it is valid. Throws `UndecidedError` if the validation would take too long. */
  validate(value: unknown): readonly SchemaProblem[] {
    const run = new ValidationRun(this.#schema, this.#patterns, this.#weights);
    run.check(this.#schema.root, value, undefined);
    return run.problems;
  }
}

class ValidationRun {
  readonly problems: SchemaProblem[] = [];
  readonly #schema: PreparedSchema;
  readonly #patterns: Map<string, BoundedPattern>;
  readonly #comparison: ValueComparison;
  readonly #budget = new StepBudget(MAX_STEPS);
  readonly #path: (string | number)[] = [];
  #depth = 0;
  /** Number of enclosing keywords, such as `not`, in which a match can make the arguments invalid. */
  #inverted = 0;

  constructor(
    schema: PreparedSchema,
    patterns: Map<string, BoundedPattern>,
    weights: WeakMap<object, number>,
  ) {
    this.#schema = schema;
    this.#patterns = patterns;
    this.#comparison = new ValueComparison(this.#budget, weights);
  }

  /** Returns whether a value is valid. Records problems in `problems` and checked parts in `evaluated`. No keyword ends the check early. */
  check(schema: unknown, value: unknown, evaluated: Evaluation | undefined): boolean {
    this.#budget.spend(1);
    if (schema === false) return this.#report('false schema', 'boolean schema is false');
    if (!isJsonObject(schema)) return true;
    if (++this.#depth > MAX_DEPTH) throw new UndecidedError();
    const own = this.#schema.hasUnevaluated ? new Evaluation() : undefined;
    let isValid = this.#checkType(schema, value);
    isValid = this.#checkReferences(schema, value, own) && isValid;
    if (typeof value === 'number') isValid = this.#checkNumber(schema, value) && isValid;
    else if (typeof value === 'string') isValid = this.#checkText(schema, value) && isValid;
    isValid = this.#checkAlternatives(schema, value, own) && isValid;
    isValid = this.#checkConstants(schema, value) && isValid;
    if (Array.isArray(value)) isValid = this.#checkItems(schema, value, own) && isValid;
    else if (isJsonObject(value)) isValid = this.#checkObject(schema, value, own) && isValid;
    this.#depth--;
    // Members and items that an invalid branch evaluated do not count as evaluated.
    if (isValid && own !== undefined && evaluated !== undefined) this.#merge(evaluated, own);
    return isValid;
  }

  #report(keyword: string, message: string, details?: Pick<SchemaProblem, 'member' | 'allowed'>): false {
    if (this.problems.length < MAX_PROBLEMS)
      this.problems.push({ path: [...this.#path], keyword, message, ...details });
    return false;
  }

  #checkAt(step: string | number, schema: unknown, value: unknown): boolean {
    this.#path.push(step);
    const isValid = this.check(schema, value, undefined);
    this.#path.pop();
    return isValid;
  }

  /** Does the same as `check` without recording problems. It is used for schemas whose match can make the arguments invalid. */
  #matchesExactly(schema: unknown, value: unknown, evaluated: Evaluation | undefined): boolean {
    const before = this.problems.length;
    this.#inverted++;
    const isValid = this.check(schema, value, evaluated);
    this.#inverted--;
    this.problems.length = before;
    return isValid;
  }

  #merge(evaluated: Evaluation, branch: Evaluation): void {
    this.#budget.spend(branch.keys.size + branch.items.size);
    evaluated.add(branch);
  }

  #checkType({ type, nullable }: JsonObject, value: unknown): boolean {
    if (type === undefined || (nullable === true && value === null)) return true;
    if (Array.isArray(type)) {
      this.#budget.spend(type.length);
      return type.some((name) => isOfType(name, value)) || this.#report('type', `must be ${type.join(',')}`);
    }
    return isOfType(type, value) || this.#report('type', `must be ${type as string}`);
  }

  #checkReferences(schema: JsonObject, value: unknown, evaluated: Evaluation | undefined): boolean {
    let isValid = true;
    for (const reference of [schema['$ref'], schema['$dynamicRef']])
      if (typeof reference === 'string')
        isValid = this.check(this.#schema.resolve(reference), value, evaluated) && isValid;
    return isValid;
  }

  #checkNumber(schema: JsonObject, value: number): boolean {
    const { maximum, minimum, exclusiveMaximum, exclusiveMinimum, multipleOf } = schema;
    let isValid = true;
    if (typeof maximum === 'number' && value > maximum)
      isValid = this.#report('maximum', `must be <= ${maximum}`);
    if (typeof minimum === 'number' && value < minimum)
      isValid = this.#report('minimum', `must be >= ${minimum}`);
    if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
      isValid = this.#report('exclusiveMaximum', `must be < ${exclusiveMaximum}`);
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
      isValid = this.#report('exclusiveMinimum', `must be > ${exclusiveMinimum}`);
    if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
      isValid = this.#report('multipleOf', `must be multiple of ${multipleOf}`);
    return isValid;
  }

  #checkText({ maxLength, minLength, pattern }: JsonObject, value: string): boolean {
    let isValid = true;
    if (typeof maxLength === 'number' && this.#isLonger(value, maxLength))
      isValid = this.#report('maxLength', `must NOT have more than ${maxLength} characters`);
    if (typeof minLength === 'number' && !this.#isLonger(value, minLength - 1))
      isValid = this.#report('minLength', `must NOT have fewer than ${minLength} characters`);
    if (typeof pattern !== 'string') return isValid;
    const isMatch = this.#test(pattern, value);
    // Text whose match would take too long passes. Where a match can make the arguments invalid, the validation is abandoned.
    if (isMatch === undefined && this.#inverted > 0) throw new UndecidedError();
    if (isMatch === false)
      return this.#report('pattern', `must match pattern "${pattern.slice(0, MAX_QUOTED_LENGTH)}"`);
    return isValid;
  }

  /** Whether a text has more than `length` characters. They are counted only if the number of UTF-16 code units does not decide. */
  #isLonger(text: string, length: number): boolean {
    if (text.length <= length) return false;
    if (text.length > 2 * length) return true;
    this.#budget.spend(1 + Math.floor(text.length / 4));
    let characters = 0;
    for (const _ of text) characters++;
    return characters > length;
  }

  #test(source: string, text: string): boolean | undefined {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined)
      this.#patterns.set(source, (pattern = createBoundedPattern(source, this.#budget)));
    return pattern(text, this.#budget);
  }

  #checkAlternatives(schema: JsonObject, value: unknown, evaluated: Evaluation | undefined): boolean {
    let isValid = true;
    if (schema['not'] !== undefined && this.#matchesExactly(schema['not'], value, undefined))
      isValid = this.#report('not', 'must NOT be valid');
    if (Array.isArray(schema['anyOf']))
      isValid = this.#checkAnyOf(schema['anyOf'], value, evaluated) && isValid;
    if (Array.isArray(schema['oneOf']))
      isValid = this.#checkOneOf(schema['oneOf'], value, evaluated) && isValid;
    if (Array.isArray(schema['allOf']))
      for (const branch of schema['allOf']) isValid = this.check(branch, value, evaluated) && isValid;
    if (schema['if'] !== undefined) {
      const key = this.#matchesExactly(schema['if'], value, evaluated) ? 'then' : 'else';
      if (schema[key] !== undefined && !this.check(schema[key], value, evaluated))
        isValid = this.#report('if', `must match "${key}" schema`);
    }
    return isValid;
  }

  #checkAnyOf(branches: readonly unknown[], value: unknown, evaluated: Evaluation | undefined): boolean {
    const before = this.problems.length;
    let isValid = false;
    for (const schema of branches) {
      if (!this.check(schema, value, evaluated)) continue;
      isValid = true;
      // After a match, further branches matter only for the members and items that they evaluate.
      if (evaluated === undefined) break;
    }
    if (!isValid) return this.#report('anyOf', 'must match a schema in anyOf');
    this.problems.length = before;
    return true;
  }

  #checkOneOf(branches: readonly unknown[], value: unknown, evaluated: Evaluation | undefined): boolean {
    const before = this.problems.length;
    let matches = 0;
    this.#inverted++;
    for (const schema of branches) {
      if (this.check(schema, value, evaluated) && ++matches === 2) break;
    }
    this.#inverted--;
    // The problems of the branches matter only if no branch matches.
    if (matches > 0) this.problems.length = before;
    return matches === 1 || this.#report('oneOf', 'must match exactly one schema in oneOf');
  }

  #checkConstants(schema: JsonObject, value: unknown): boolean {
    let isValid = true;
    if ('const' in schema && !this.#comparison.isEqual(schema['const'], value))
      isValid = this.#report('const', 'must be equal to constant');
    const allowed = schema['enum'];
    if (Array.isArray(allowed) && !this.#comparison.isOneOf(allowed, value))
      isValid = this.#report('enum', 'must be equal to one of the allowed values', { allowed });
    return isValid;
  }

  #checkItems(schema: JsonObject, items: readonly unknown[], evaluated: Evaluation | undefined): boolean {
    const { maxItems, minItems } = schema;
    let isValid = true;
    if (typeof maxItems === 'number' && items.length > maxItems)
      isValid = this.#report('maxItems', `must NOT have more than ${maxItems} items`);
    if (typeof minItems === 'number' && items.length < minItems)
      isValid = this.#report('minItems', `must NOT have fewer than ${minItems} items`);
    if (schema['uniqueItems'] === true && !this.#comparison.areUnique(items))
      isValid = this.#report('uniqueItems', 'must NOT have duplicate items');
    if (schema['contains'] !== undefined) isValid = this.#checkContains(schema, items, evaluated) && isValid;
    isValid = this.#checkEachItem(schema, items, evaluated) && isValid;
    const rest = schema['unevaluatedItems'];
    if (rest === undefined || evaluated === undefined || this.#schema.isOldDraft) return isValid;
    for (const [at, item] of items.entries()) {
      if (evaluated.items.has(at)) continue;
      if (rest === false) return this.#report('unevaluatedItems', 'must NOT have unevaluated items');
      evaluated.items.add(at);
      isValid = this.#checkAt(at, rest, item) && isValid;
    }
    return isValid;
  }

  #checkEachItem(schema: JsonObject, items: readonly unknown[], evaluated: Evaluation | undefined): boolean {
    const { isOldDraft } = this.#schema;
    const tuple = schema[isOldDraft ? 'items' : 'prefixItems'];
    const first = Array.isArray(tuple) ? tuple : [];
    const rest = schema[isOldDraft && Array.isArray(tuple) ? 'additionalItems' : 'items'];
    let isValid = true;
    for (const [at, item] of items.entries()) {
      const itemSchema: unknown = at < first.length ? first[at] : rest;
      // `items` is an array only in old drafts; in 2020-12 such a value is invalid and ignored.
      if (itemSchema === undefined || Array.isArray(itemSchema)) break;
      evaluated?.items.add(at);
      if (itemSchema === false && at >= first.length)
        return this.#report('items', `must NOT have more than ${first.length} items`);
      isValid = this.#checkAt(at, itemSchema, item) && isValid;
    }
    return isValid;
  }

  #checkContains(schema: JsonObject, items: readonly unknown[], evaluated: Evaluation | undefined): boolean {
    const { minContains, maxContains } = schema;
    const { isOldDraft } = this.#schema;
    const least = typeof minContains === 'number' && !isOldDraft ? minContains : 1;
    const most = typeof maxContains === 'number' && !isOldDraft ? maxContains : Infinity;
    let matches = 0;
    for (const [at, item] of items.entries()) {
      if (!this.#matchesExactly(schema['contains'], item, undefined)) continue;
      matches++;
      evaluated?.items.add(at);
    }
    if (matches < least) return this.#report('contains', `must contain at least ${least} valid item(s)`);
    return matches <= most || this.#report('contains', `must contain at most ${most} valid item(s)`);
  }

  #checkObject(schema: JsonObject, value: JsonObject, evaluated: Evaluation | undefined): boolean {
    const { maxProperties, minProperties, required } = schema;
    let isValid = true;
    if (typeof maxProperties === 'number' || typeof minProperties === 'number') {
      const count = this.#keysOf(value).length;
      if (typeof maxProperties === 'number' && count > maxProperties)
        isValid = this.#report('maxProperties', `must NOT have more than ${maxProperties} properties`);
      if (typeof minProperties === 'number' && count < minProperties)
        isValid = this.#report('minProperties', `must NOT have fewer than ${minProperties} properties`);
    }
    if (Array.isArray(required)) {
      this.#budget.spend(required.length);
      for (const name of required)
        if (typeof name === 'string' && !Object.hasOwn(value, name))
          isValid = this.#report('required', 'is required', { member: name });
    }
    if (schema['propertyNames'] !== undefined)
      isValid = this.#checkNames(schema['propertyNames'], value) && isValid;
    isValid = this.#checkDependencies(schema, value, evaluated) && isValid;
    isValid = this.#checkMembers(schema, value, evaluated) && isValid;
    const rest = schema['unevaluatedProperties'];
    if (rest === undefined || evaluated === undefined || this.#schema.isOldDraft) return isValid;
    for (const key of this.#keysOf(value)) {
      if (evaluated.keys.has(key)) continue;
      evaluated.keys.add(key);
      if (rest === false)
        isValid = this.#report('unevaluatedProperties', 'must NOT have unevaluated properties');
      else isValid = this.#checkAt(key, rest, value[key]) && isValid;
    }
    return isValid;
  }

  #keysOf(value: JsonObject): readonly string[] {
    const keys = Object.keys(value);
    this.#budget.spend(keys.length);
    return keys;
  }

  #checkNames(schema: unknown, value: JsonObject): boolean {
    let isValid = true;
    for (const key of this.#keysOf(value))
      if (!this.check(schema, key, undefined))
        isValid = this.#report('propertyNames', 'property name must be valid');
    return isValid;
  }

  #checkDependencies(schema: JsonObject, value: JsonObject, evaluated: Evaluation | undefined): boolean {
    let isValid = true;
    for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
      const dependencies = schema[keyword];
      if (!isJsonObject(dependencies) || (this.#schema.isOldDraft && keyword !== 'dependencies')) continue;
      for (const key of this.#keysOf(dependencies)) {
        if (!Object.hasOwn(value, key)) continue;
        const dependency = dependencies[key];
        if (!Array.isArray(dependency)) {
          isValid = this.check(dependency, value, evaluated) && isValid;
          continue;
        }
        this.#budget.spend(dependency.length);
        for (const name of dependency)
          if (typeof name === 'string' && !Object.hasOwn(value, name))
            isValid = this.#report(keyword, `must have property ${name} when property ${key} is present`);
      }
    }
    return isValid;
  }

  #checkMembers(schema: JsonObject, value: JsonObject, evaluated: Evaluation | undefined): boolean {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const patternMap = isJsonObject(schema['patternProperties']) ? schema['patternProperties'] : {};
    const patterns = Object.keys(patternMap);
    const rest = schema['additionalProperties'];
    let isValid = true;
    if (rest !== undefined || patterns.length > 0) {
      for (const key of this.#keysOf(value)) {
        let isKnown = Object.hasOwn(properties, key);
        for (const pattern of patterns) {
          if (!this.#isMatchingKey(pattern, key)) continue;
          isKnown = true;
          evaluated?.keys.add(key);
          isValid = this.#checkAt(key, patternMap[pattern], value[key]) && isValid;
        }
        if (isKnown || rest === undefined) continue;
        evaluated?.keys.add(key);
        if (rest === false) isValid = this.#report('additionalProperties', 'is not known', { member: key });
        else isValid = this.#checkAt(key, rest, value[key]) && isValid;
      }
    }
    for (const key of this.#keysOf(properties)) {
      if (!Object.hasOwn(value, key)) continue;
      evaluated?.keys.add(key);
      isValid = this.#checkAt(key, properties[key], value[key]) && isValid;
    }
    return isValid;
  }

  #isMatchingKey(pattern: string, key: string): boolean {
    this.#budget.spend(1);
    const isMatch = this.#test(pattern, key);
    // If it is unknown whether the subschema applies, any result could be wrong.
    if (isMatch === undefined) throw new UndecidedError();
    return isMatch;
  }
}
