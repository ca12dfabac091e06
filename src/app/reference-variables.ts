import { isVariableSet } from './shared-gateway/client-variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that references are resolved with: those of this process, completed and replaced by those that clients bring. */
export class ReferenceVariables {
  readonly #own: Environment;
  readonly #brought = new Map<string, string>();

  constructor(own: Environment) {
    this.#own = own;
  }

  /** Returns the value of a variable, which may be empty. */
  readonly read = (name: string): string | undefined =>
    this.#brought.get(name) ?? (Object.hasOwn(this.#own, name) ? this.#own[name] : undefined);

  lacks(name: string): boolean {
    return !isVariableSet(name, this.read(name));
  }

  use(name: string, value: string): void {
    this.#brought.set(name, value);
  }
}
