import { renameSync, writeFileSync } from 'node:fs';

/** The configuration file of the gateway under test. Faults change its switches. */
export class ConfigFile {
  readonly path: string;
  readonly #text: (switches: Switches) => string;
  #switches: Switches = { hasRemovable: true, hasAddable: false, generation: 0 };

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

  /** Changes the file in place or by replacing it; editors do either. */
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
  /** A server that is configured at the start and can be removed. */
  readonly hasRemovable: boolean;
  /** A server that can be added and removed. */
  readonly hasAddable: boolean;
  /** Changing this number changes the entry of one server. */
  readonly generation: number;
}
