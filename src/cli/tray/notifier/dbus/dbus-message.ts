import { decodeValues } from './decode-values.ts';
import { encodeValues } from './encode-values.ts';
import { createVariant } from './dbus-value.ts';
import type { DbusValue, DbusVariant } from './dbus-value.ts';

/** Panels send short messages, so a longer one ends the connection. */
const MAX_MESSAGE_BYTES = 1_048_576;
/** The first byte of a message in little-endian order: the letter `l`. */
const LITTLE_ENDIAN = 0x6c;
/** The kinds of messages. Their numbers in the protocol start at 1. */
const KINDS = ['call', 'return', 'error', 'signal'] as const;
/** The header up to and including the length of the header fields. */
const FIXED_HEADER_BYTES = 16;

export interface DbusMessage {
  readonly kind: (typeof KINDS)[number];
  readonly serial: number;
  readonly wantsReply: boolean;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly error?: string;
  readonly replyTo?: number;
  readonly destination?: string | undefined;
  readonly sender?: string;
  readonly signature: string;
  readonly body: readonly DbusValue[];
}

/** The header fields with their numbers and types in the D-Bus specification. */
const HEADER_FIELDS = {
  path: [1, 'o'],
  interface: [2, 's'],
  member: [3, 's'],
  error: [4, 's'],
  replyTo: [5, 'u'],
  destination: [6, 's'],
  sender: [7, 's'],
  signature: [8, 'g'],
} as const;

type HeaderField = keyof typeof HEADER_FIELDS;

export function encodeMessage(message: DbusMessage): Buffer {
  const body = encodeValues(message.signature, message.body);
  const fields = (Object.keys(HEADER_FIELDS) as HeaderField[]).flatMap((name) => {
    const value = message[name];
    const [number, type] = HEADER_FIELDS[name];
    return value === undefined || value === '' ? [] : [[number, createVariant(type, value)]];
  });
  // The flag 1 means `NO_REPLY_EXPECTED`.
  const flags = message.wantsReply ? 0 : 1;
  const kind = KINDS.indexOf(message.kind) + 1;
  // The fourth value is the version of the protocol.
  const header = encodeValues('yyyyuua(yv)', [
    LITTLE_ENDIAN,
    kind,
    flags,
    1,
    body.length,
    message.serial,
    fields,
  ]);
  // The body starts at a multiple of eight bytes.
  return Buffer.concat([header, Buffer.alloc((8 - (header.length % 8)) % 8), body]);
}

/** Decodes the first message and returns its length. Returns undefined if the message is incomplete, and throws if it is invalid. */
export function decodeMessage(
  bytes: Buffer,
): { readonly message: DbusMessage; readonly length: number } | undefined {
  if (bytes.length < FIXED_HEADER_BYTES) return undefined;
  const isLittleEndian = bytes[0] === LITTLE_ENDIAN;
  const readUint32 = (offset: number): number =>
    isLittleEndian ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset);
  const bodyLength = readUint32(4);
  const bodyOffset = Math.ceil((FIXED_HEADER_BYTES + readUint32(12)) / 8) * 8;
  const length = bodyOffset + bodyLength;
  if (length > MAX_MESSAGE_BYTES) throw new Error('A D-Bus message is too long.');
  if (bytes.length < length) return undefined;
  const [, kind, flags, , , serial, pairs] = decodeValues(
    'yyyyuua(yv)',
    bytes.subarray(0, bodyOffset),
    isLittleEndian,
  );
  const fields = toHeaderFields(pairs as readonly (readonly [number, DbusVariant])[]);
  const { signature = '' } = fields;
  const message: DbusMessage = {
    ...fields,
    // Messages of unknown kinds must be ignored. Like a signal, they get no reply.
    kind: KINDS[Number(kind) - 1] ?? 'signal',
    serial: Number(serial),
    wantsReply: (Number(flags) & 1) === 0,
    signature,
    body: decodeValues(signature, bytes.subarray(bodyOffset, length), isLittleEndian),
  };
  return { message, length };
}

/** Ignores fields with an unexpected type, because any process on the bus may have sent them. */
function toHeaderFields(
  pairs: readonly (readonly [number, DbusVariant])[],
): Partial<Pick<DbusMessage, HeaderField>> {
  const fields = (Object.keys(HEADER_FIELDS) as HeaderField[]).flatMap((name) => {
    const [number, type] = HEADER_FIELDS[name];
    const found = pairs.find(([fieldNumber, { signature }]) => fieldNumber === number && signature === type);
    return found === undefined ? [] : [[name, found[1].value] as const];
  });
  return Object.fromEntries(fields);
}
