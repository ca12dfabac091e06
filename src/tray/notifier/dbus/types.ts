/** A value with its D-Bus type. Structures are arrays, dictionaries are arrays of pairs, arrays of bytes are buffers. */
export type Value = string | number | bigint | boolean | Uint8Array | Variant | readonly Value[];

export interface Variant {
  readonly signature: string;
  readonly value: Value;
}

export function variant(signature: string, value: Value): Variant {
  return { signature, value };
}

/** Structures and variants inside each other; deeper ones are no message of a well-meaning peer. */
const MAX_DEPTH = 32;

/** The complete types that a signature consists of. */
export function typesIn(signature: string): readonly string[] {
  if (signature.length > 255) throw new Error('A D-Bus signature is too long.');
  const types: string[] = [];
  for (let at = 0; at < signature.length;) {
    const end = endOfType(signature, at, 0);
    types.push(signature.slice(at, end));
    at = end;
  }
  return types;
}

/** Where the values of a type begin: at a multiple of this. */
export function alignmentOf(type: string): number {
  return ALIGNMENTS[type[0] ?? ''] ?? 1;
}

const ALIGNMENTS: Readonly<Record<string, number>> = {
  ...{ n: 2, q: 2, b: 4, i: 4, u: 4, s: 4, o: 4, a: 4, h: 4 },
  ...{ x: 8, t: 8, d: 8, '(': 8, '{': 8 },
};

function endOfType(signature: string, at: number, depth: number): number {
  if (depth > MAX_DEPTH) throw new Error('A D-Bus signature is nested too deeply.');
  const code = signature[at];
  if (code === undefined) throw new Error('A D-Bus signature ends in the middle of a type.');
  if (code === 'a') return endOfType(signature, at + 1, depth + 1);
  const closing = code === '(' ? ')' : code === '{' ? '}' : undefined;
  if (closing === undefined) {
    if (!'ybnqiuxtdsogvh'.includes(code)) throw new Error(`D-Bus has no type "${code}".`);
    return at + 1;
  }
  let end = at + 1;
  if (signature[end] === closing) throw new Error('A D-Bus structure is empty.');
  while (signature[end] !== closing) end = endOfType(signature, end, depth + 1);
  return end + 1;
}
