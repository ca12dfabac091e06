import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { isEqualJson } from '../../core/lib/is-equal-json.ts';
import { UndecidedError } from './step-budget.ts';
import type { StepBudget } from './step-budget.ts';

/** Maximum depth of the recursion. Deeper values are left to the server, because they could overflow the stack. */
const MAX_DEPTH = 300;

/** Compares values. Every comparison spends steps of a budget. */
export class ValueComparison {
  readonly #budget: StepBudget;
  readonly #weights: WeakMap<object, number>;

  /** `weights` caches the sizes of parts of the schema, and is shared by all validations with that schema. */
  constructor(budget: StepBudget, weights: WeakMap<object, number>) {
    this.#budget = budget;
    this.#weights = weights;
  }

  isOneOf(allowed: readonly unknown[], value: unknown): boolean {
    if (typeof value === 'object' && value !== null)
      return allowed.some((candidate) => this.isEqual(candidate, value));
    const length = typeof value === 'string' ? value.length : 0;
    this.#budget.spend(allowed.length * (1 + Math.floor(length / 256)));
    return allowed.includes(value);
  }

  /**
   * Compares a value with an expected value of the schema. The cost is at most the size of the expected
   * value, however large the other value is.
   */
  isEqual(expected: unknown, value: unknown): boolean {
    this.#budget.spend(1);
    if (typeof expected !== 'object' || expected === null) return expected === value;
    if (typeof value !== 'object' || value === null) return false;
    this.#budget.spend(this.#weightOf(expected));
    return isEqualJson(expected, value);
  }

  /** Returns the number of values in a part of the schema. */
  #weightOf(part: object): number {
    let weight = this.#weights.get(part);
    if (weight === undefined) this.#weights.set(part, (weight = countValues(part)));
    return weight;
  }

  areUnique(items: readonly unknown[]): boolean {
    const seen = new Set<unknown>();
    for (const item of items) {
      this.#spendSize(item, 0);
      // Strings are serialized as well, so that the string `{}` and an empty object remain different.
      seen.add(typeof item === 'number' || typeof item === 'boolean' ? item : canonicalJson(item));
    }
    return seen.size === items.length;
  }

  /** Spends as many steps as serializing the value takes. */
  #spendSize(value: unknown, depth: number): void {
    this.#budget.spend(typeof value === 'string' ? 3 + Math.floor(value.length / 32) : 3);
    if (typeof value !== 'object' || value === null) return;
    if (depth > MAX_DEPTH) throw new UndecidedError();
    for (const member of Object.values(value)) this.#spendSize(member, depth + 1);
  }
}

/** Returns the number of values in a part of the schema. The recursion is safe, because `prepareSchema` limits the nesting. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const member of Object.values(value)) count += countValues(member);
  return count;
}
