import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { variant } from './types.ts';
import type { Value, Variant } from './types.ts';

/** Panels send short messages; whoever sends more than this is cut off. */
const MAX_BYTES = 1_048_576;
const KINDS = ['call', 'return', 'error', 'signal'] as const;
const FIXED_BYTES = 16;

export interface Message {
  readonly kind: (typeof KINDS)[number];
  readonly serial: number;
  readonly wantsReply: boolean;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly error?: string;
  readonly replyTo?: number;
  readonly destination?: string;
  readonly sender?: string;
  readonly signature: string;
  readonly body: readonly Value[];
}

/** Members of a header with their numbers and types. */
const FIELDS = {
  path: [1, 'o'],
  interface: [2, 's'],
  member: [3, 's'],
  error: [4, 's'],
  replyTo: [5, 'u'],
  destination: [6, 's'],
  sender: [7, 's'],
  signature: [8, 'g'],
} as const;

type Field = keyof typeof FIELDS;

export function encodeMessage(message: Message): Buffer {
  const body = encode(message.signature, message.body);
  const fields = (Object.keys(FIELDS) as Field[]).flatMap((name) => {
    const value = message[name];
    const [number, type] = FIELDS[name];
    return value === undefined || value === '' ? [] : [[number, variant(type, value)]];
  });
  const flags = message.wantsReply ? 0 : 1;
  const kind = KINDS.indexOf(message.kind) + 1;
  const header = encode('yyyyuua(yv)', [...[0x6c, kind, flags, 1], ...[body.length, message.serial, fields]]);
  return Buffer.concat([header, Buffer.alloc((8 - (header.length % 8)) % 8), body]);
}

/** The first message of what has come, and how long it is; undefined while it is not whole. */
export function decodeMessage(
  bytes: Buffer,
): { readonly message: Message; readonly length: number } | undefined {
  if (bytes.length < FIXED_BYTES) return undefined;
  const isLittle = bytes[0] === 0x6c;
  const number = (at: number): number => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const bodyBytes = number(4);
  const bodyAt = Math.ceil((FIXED_BYTES + number(12)) / 8) * 8;
  const length = bodyAt + bodyBytes;
  if (length > MAX_BYTES) throw new Error('A D-Bus message is too long.');
  if (bytes.length < length) return undefined;
  const [, kind, flags, , , serial, pairs] = decode('yyyyuua(yv)', bytes.subarray(0, bodyAt), isLittle);
  const fields = fieldsOf(pairs as readonly (readonly [number, Variant])[]);
  const { signature = '' } = fields;
  const message: Message = {
    ...fields,
    kind: KINDS[Number(kind) - 1] ?? 'signal',
    serial: Number(serial),
    wantsReply: (Number(flags) & 1) === 0,
    signature,
    body: decode(signature, bytes.subarray(bodyAt, length), isLittle),
  };
  return { message, length };
}

/** Types are checked, since whoever is on the bus may have written them. */
function fieldsOf(pairs: readonly (readonly [number, Variant])[]): Partial<Pick<Message, Field>> {
  const known = (Object.keys(FIELDS) as Field[]).flatMap((name) => {
    const [number, type] = FIELDS[name];
    const found = pairs.find(([each, { signature }]) => each === number && signature === type);
    return found === undefined ? [] : [[name, found[1].value] as const];
  });
  return Object.fromEntries(known);
}
