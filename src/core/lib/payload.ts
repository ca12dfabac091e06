import { parseExact, stringifyExact } from './exact-json.ts';
import { jsonOutline } from './json-outline.ts';

/** A large JSON text that is passed on undecoded: the bytes `rest`, after a text `before` that the gateway adds. */
interface Bytes {
  readonly before: string;
  readonly rest: Buffer;
}

/**
 * A JSON value that may keep its original text or bytes, so that it can be passed on without parsing or serializing. Serializing a large
 * result costs six times as much as parsing it, and parsing it ten times as much as finding its end.
 */
export class Payload {
  /** The value, perhaps with its long strings emptied. It shows the structure without parsing a large text; see `jsonOutline`. */
  readonly outline: unknown;
  // At least one of the following is set. The others are computed when they are needed.
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

  /** Creates a payload that keeps the text. Throws if the text is not exactly one JSON value. */
  static ofText(text: string): Payload {
    const peek: unknown = JSON.parse(text);
    // Line breaks between tokens are valid JSON, but they would end the line or event in which the text is sent, so it is not kept.
    if (text.includes('\n') || text.includes('\r'))
      return new Payload(peek, { peek, value: parseExact(text) });
    return new Payload(peek, { text, peek });
  }

  /** Works like `ofText` for a large text, and keeps its bytes if possible. */
  static ofBytes(bytes: Buffer): Payload {
    const outline = jsonOutline(bytes);
    if (outline === undefined) return Payload.ofText(bytes.toString('utf8'));
    return new Payload(JSON.parse(outline), { bytes: { before: '', rest: bytes } });
  }

  static of(value: unknown): Payload {
    return new Payload(value, { peek: value, value });
  }

  /**
   * Returns the object with additional members (JSON text without braces) in front, without serializing the rest. The value must be an
   * object.
   */
  withMembers(members: string): Payload {
    const isEmpty = Object.keys(this.outline as object).length === 0;
    if (this.#bytes === undefined) {
      const rest = this.text.slice(this.text.indexOf('{') + 1);
      const text = isEmpty ? `{${members}}` : `{${members},${rest}`;
      return new Payload(this.outline, { text, peek: this.#peek });
    }
    const { before, rest } = this.#bytes;
    if (before !== '') return Payload.ofText(this.text).withMembers(members);
    // The object is not empty: bytes are kept only if they contain a long string, or for long lists (`encoded`).
    const bytes = { before: `{${members},`, rest: rest.subarray(rest.indexOf('{') + 1) };
    return new Payload(this.outline, { bytes });
  }

  /** Returns the value as encoded bytes, for responses that are sent repeatedly: encoding a list of 5,000 tools takes 4 ms. */
  encoded(): Payload {
    return new Payload(this.outline, { bytes: { before: '', rest: Buffer.from(this.text) } });
  }

  /** The parsed value for reading; very large numbers may be rounded. */
  get peek(): unknown {
    if (this.#peek === undefined && this.#bytes !== undefined) this.#peek = JSON.parse(this.text);
    return this.#peek;
  }

  /** The parsed value for changing and serializing; numbers are exact. */
  get value(): unknown {
    if (this.#value === undefined && (this.#text !== undefined || this.#bytes !== undefined))
      this.#value = parseExact(this.text);
    return this.#value;
  }

  /** The JSON text. */
  get text(): string {
    this.#text ??= textOf(this.#bytes) ?? stringifyExact(this.#value);
    return this.#text;
  }

  /** The bytes to write instead of `text`, if there are any. */
  get bytes(): Bytes | undefined {
    return this.#bytes;
  }

  get byteLength(): number {
    if (this.#bytes === undefined) return Buffer.byteLength(this.text);
    return Buffer.byteLength(this.#bytes.before) + this.#bytes.rest.length;
  }

  /** The length in characters, or in bytes if the payload has bytes; a cheap measure of the size. */
  get length(): number {
    return this.#bytes === undefined ? this.text.length : this.byteLength;
  }

  /** Returns at most the first `characters` characters. */
  start(characters: number): string {
    if (this.#bytes === undefined || this.#text !== undefined) return this.text.slice(0, characters);
    const { before, rest } = this.#bytes;
    // A character has at most four bytes, so these bytes contain enough whole characters. `slice` drops a character that is cut at the end.
    return (before + rest.toString('utf8', 0, 4 * characters)).slice(0, characters);
  }
}

function textOf(bytes: Bytes | undefined): string | undefined {
  return bytes && bytes.before + bytes.rest.toString('utf8');
}
