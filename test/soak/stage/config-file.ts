import { renameSync, writeFileSync } from 'node:fs';

/** The configuration of the gateway under test, as a function of a few switches that faults turn. */
export class ConfigFile {
  readonly path: string;
  readonly #text: (switches: Switches) => string;
  #switches: Switches = { hasGuest: true, hasLodger: false, generation: 0 };

  constructor(path: string, text: (switches: Switches) => string) {
    this.path = path;
    this.#text = text;
  }

  get switches(): Switches {
    return this.#switches;
  }

  text(): string {
    return this.#text(this.#switches);
  }

  /** In place or by replacing the file, as editors do either. */
  change(changes: Partial<Switches>, inPlace: boolean): void {
    this.#switches = { ...this.#switches, ...changes };
    this.write(this.text(), inPlace);
  }

  write(text: string, inPlace: boolean): void {
    if (inPlace) {
      writeFileSync(this.path, text);
      return;
    }
    writeFileSync(`${this.path}.new`, text);
    renameSync(`${this.path}.new`, this.path);
  }
}

export interface Switches {
  /** A server that is there from the beginning, and goes. */
  readonly hasGuest: boolean;
  /** A server that comes, and goes. */
  readonly hasLodger: boolean;
  /** A change of it is a change of one server. */
  readonly generation: number;
}
