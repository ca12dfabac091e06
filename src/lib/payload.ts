import { parseExact, stringifyExact } from './exact-json.ts';

/**
 * A JSON value that may still have the text it came from, so that what is only passed on is neither copied nor
 * written anew. Writing a large result costs six times as much as reading it.
 */
export class Payload {
  readonly #peek: unknown;
  #text: string | undefined;
  #value: unknown;

  private constructor(peek: unknown, text: string | undefined, value: unknown) {
    this.#peek = peek;
    this.#text = text;
    this.#value = value;
  }

  /** Throws where the text is not exactly one JSON value. */
  static ofText(text: string): Payload {
    const peek: unknown = JSON.parse(text);
    // Line breaks between tokens are good JSON, but would end the line, or the event, in which it is passed on.
    if (text.includes('\n') || text.includes('\r')) return new Payload(peek, undefined, parseExact(text));
    return new Payload(peek, text, undefined);
  }

  static of(value: unknown): Payload {
    return new Payload(value, undefined, value);
  }

  /** The same object with members put before its own, without writing the rest anew. `peek` must be an object. */
  withMembers(members: string, peek: object): Payload {
    const rest = this.text.slice(this.text.indexOf('{') + 1);
    const text = Object.keys(peek).length === 0 ? `{${members}}` : `{${members},${rest}`;
    return new Payload(peek, text, undefined);
  }

  /** For looking: very large numbers in it may be rounded. */
  get peek(): unknown {
    return this.#peek;
  }

  /** For changing and writing again: numbers are exact. */
  get value(): unknown {
    if (this.#value === undefined && this.#text !== undefined) this.#value = parseExact(this.#text);
    return this.#value;
  }

  get text(): string {
    this.#text ??= stringifyExact(this.#value);
    return this.#text;
  }
}
