/** A D-Bus value. Structures are arrays, dictionaries are arrays of pairs, and arrays of bytes are `Uint8Array` objects. */
export type DbusValue = string | number | bigint | boolean | Uint8Array | DbusVariant | readonly DbusValue[];

/** A value together with its D-Bus type. */
export interface DbusVariant {
  readonly signature: string;
  readonly value: DbusValue;
}

export function createVariant(signature: string, value: DbusValue): DbusVariant {
  return { signature, value };
}

/** The arguments of a call or a signal, or the content of a reply. */
export interface DbusArguments {
  readonly signature: string;
  readonly body: readonly DbusValue[];
}

/** The maximum nesting of structures and arrays. Only a malicious message is nested more deeply. */
const MAX_DEPTH = 32;

/** Splits a signature into its complete types. */
export function splitSignature(signature: string): readonly string[] {
  if (signature.length > 255) throw new Error('A D-Bus signature is too long.');
  const types: string[] = [];
  for (let start = 0; start < signature.length;) {
    const end = findTypeEnd(signature, start, 0);
    types.push(signature.slice(start, end));
    start = end;
  }
  return types;
}

/** Returns the alignment of a type in bytes. The offset of a value must be a multiple of it. */
export function alignmentOf(type: string): number {
  return ALIGNMENTS[type[0] ?? ''] ?? 1;
}

const ALIGNMENTS: Readonly<Record<string, number>> = {
  n: 2,
  q: 2,
  b: 4,
  i: 4,
  u: 4,
  s: 4,
  o: 4,
  a: 4,
  h: 4,
  x: 8,
  t: 8,
  d: 8,
  '(': 8,
  '{': 8,
};

/** Returns the index after the complete type that begins at `start`. */
function findTypeEnd(signature: string, start: number, depth: number): number {
  if (depth > MAX_DEPTH) throw new Error('A D-Bus signature is nested too deeply.');
  const code = signature[start];
  if (code === undefined) throw new Error('A D-Bus signature ends in the middle of a type.');
  if (code === 'a') return findTypeEnd(signature, start + 1, depth + 1);
  const closing = code === '(' ? ')' : code === '{' ? '}' : undefined;
  if (closing === undefined) {
    if (!'ybnqiuxtdsogvh'.includes(code)) throw new Error(`"${code}" is not a D-Bus type.`);
    return start + 1;
  }
  let end = start + 1;
  if (signature[end] === closing) throw new Error('A D-Bus structure is empty.');
  while (signature[end] !== closing) end = findTypeEnd(signature, end, depth + 1);
  return end + 1;
}
