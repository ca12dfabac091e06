import { parseExact, stringifyExact } from './exact-json.ts';
import { jsonOutline } from './json-outline.ts';

/** A large JSON text as it is passed on: bytes that were never decoded, after what we put before them. */
interface Bytes {
  readonly before: string;
  readonly rest: Buffer;
}

/**
 * A JSON value that may still have the text or the bytes it came from, so that what is only passed on is neither copied nor
 * written anew. Writing a large result costs six times as much as reading it, and reading it ten times as much as finding
 * out where it ends.
 */
export class Payload {
  /** The value, or one with the long strings of it empty. */
  readonly outline: unknown;
  readonly #bytes: Bytes | undefined;
  #text: string | undefined;
  #peek: unknown;
  #value: unknown;

  private constructor(
    outline: unknown,
    from: {
      readonly text?: string | undefined;
      readonly bytes?: Bytes;
      readonly peek?: unknown;
      readonly value?: unknown;
    },
  ) {
    this.outline = outline;
    this.#text = from.text;
    this.#bytes = from.bytes;
    this.#peek = from.peek;
    this.#value = from.value;
  }

  /** Throws where the text is not exactly one JSON value. */
  static ofText(text: string): Payload {
    const peek: unknown = JSON.parse(text);
    // Line breaks between tokens are good JSON, but would end the line, or the event, in which it is passed on.
    if (text.includes('\n') || text.includes('\r'))
      return new Payload(peek, { peek, value: parseExact(text) });
    return new Payload(peek, { text, peek });
  }

  /** The same for a large text, whose bytes are kept where they can be. */
  static ofBytes(bytes: Buffer): Payload {
    const outline = jsonOutline(bytes);
    if (outline === undefined) return Payload.ofText(bytes.toString('utf8'));
    return new Payload(JSON.parse(outline), { bytes: { before: '', rest: bytes } });
  }

  static of(value: unknown): Payload {
    return new Payload(value, { peek: value, value });
  }

  /** The same object with members put before its own, without writing the rest anew. The value must be an object. */
  withMembers(members: string): Payload {
    const isEmpty = Object.keys(this.outline as object).length === 0;
    if (this.#bytes === undefined) {
      const rest = this.text.slice(this.text.indexOf('{') + 1);
      const text = isEmpty ? `{${members}}` : `{${members},${rest}`;
      return new Payload(this.outline, { text, peek: this.#peek });
    }
    const { before, rest } = this.#bytes;
    if (before !== '') return Payload.ofText(this.text).withMembers(members);
    // Something long is in it, so that it cannot be empty.
    const bytes = { before: `{${members},`, rest: rest.subarray(rest.indexOf('{') + 1) };
    return new Payload(this.outline, { bytes });
  }

  /** The same as bytes alone, for what is sent again and again: encoding a list of 5,000 tools takes 4 ms each time. */
  encoded(): Payload {
    return new Payload(this.outline, { bytes: { before: '', rest: Buffer.from(this.text) } });
  }

  /** For looking: very large numbers in it may be rounded. */
  get peek(): unknown {
    if (this.#peek === undefined && this.#bytes !== undefined) this.#peek = JSON.parse(this.text);
    return this.#peek;
  }

  /** For changing and writing again: numbers are exact. */
  get value(): unknown {
    if (this.#value === undefined && (this.#text !== undefined || this.#bytes !== undefined))
      this.#value = parseExact(this.text);
    return this.#value;
  }

  get text(): string {
    this.#text ??= textOf(this.#bytes) ?? stringifyExact(this.#value);
    return this.#text;
  }

  /** What to write instead of the text, where it is large and need not be encoded. */
  get bytes(): Bytes | undefined {
    return this.#bytes;
  }

  get byteLength(): number {
    if (this.#bytes === undefined) return Buffer.byteLength(this.text);
    return Buffer.byteLength(this.#bytes.before) + this.#bytes.rest.length;
  }

  /** In characters, or in bytes where it was never decoded. */
  get length(): number {
    return this.#bytes === undefined ? this.text.length : this.byteLength;
  }

  /** At most so many characters of the beginning. */
  start(characters: number): string {
    if (this.#bytes === undefined || this.#text !== undefined) return this.text.slice(0, characters);
    const { before, rest } = this.#bytes;
    // A character has at most four bytes; one that is cut in the middle is beyond the end.
    return (before + rest.toString('utf8', 0, 4 * characters)).slice(0, characters);
  }
}

function textOf(bytes: Bytes | undefined): string | undefined {
  return bytes && bytes.before + bytes.rest.toString('utf8');
}
