/** The members and items of one value that a subschema was applied to. Only `unevaluatedProperties` and `unevaluatedItems` need it. */
export class Evaluation {
  readonly keys = new Set<string>();
  readonly items = new Set<number>();

  add(other: Evaluation): void {
    for (const key of other.keys) this.keys.add(key);
    for (const item of other.items) this.items.add(item);
  }
}
