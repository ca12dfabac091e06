import { secretSearch } from '../secret-formats.ts';

const HIDDEN = '•••';
/** What is shorter is in every other word. */
const LEAST_LENGTH = 4;
const MAX_VALUES = 500;

/** Hides in lines of text what is known to be secret, and what looks like it. */
export class LineMask {
  readonly #formats = secretSearch();
  #values: ReadonlySet<string> = new Set();

  /** Values of this server from now on; those from before stay, since what was said with them may still come. */
  add(values: Iterable<string>): void {
    const all = new Set(this.#values);
    for (const value of values) for (const form of formsOf(value)) all.add(form);
    // The longest first, so that none is hidden in part only.
    this.#values = new Set([...all].toSorted((a, b) => b.length - a.length).slice(0, MAX_VALUES));
  }

  mask(line: string): string {
    let masked = line;
    for (const value of this.#values) if (masked.includes(value)) masked = masked.replaceAll(value, HIDDEN);
    return this.#formats.mask(masked, HIDDEN);
  }
}

/** As programs write it: as it is, line by line, inside of JSON, in an address, encoded for a header. */
function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const forms = [value, ...lines.filter((line) => line.length >= 12)];
  const more = forms.flatMap((form) => [
    JSON.stringify(form).slice(1, -1),
    encodeURIComponent(form),
    Buffer.from(form).toString('base64').replace(/=+$/, ''),
  ]);
  return [...new Set([...forms, ...more])].filter((form) => form.length >= LEAST_LENGTH);
}
