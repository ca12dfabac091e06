import { stringifyExact } from '../lib/exact-json.ts';
import { Payload } from '../lib/payload.ts';
import type { JsonObject } from '../model/json.ts';
import { mediaTokens } from './media.ts';
import { take } from './page.ts';
import { nameOf } from './parts.ts';
import type { ReadPart, Reading } from './reading.ts';
import { count } from './shape.ts';

/** The part of the tokens of a whole answer that a preview may have. */
const SHARE = 4;
/** Parts of a result that a preview shows or names; the others are told by their number. */
const MAX_PARTS = 10;

interface PreviewOptions {
  /** Undefined when the result is larger than what may be kept. */
  readonly id: string | undefined;
  readonly bytes: number;
  readonly keptFor: string;
}

/** The beginning of every part, what is left, and the exact call that reads on. */
export function preview(reading: Reading, { id, bytes, keptFor }: PreviewOptions): Payload {
  const shown = reading.parts.slice(0, MAX_PARTS);
  // What is only a member is mostly the same as the content once more.
  const hasContent = reading.contentParts > 0;
  const budget = reading.budget / SHARE;
  let texts = shown.filter((part) => part.kind === 'text').length;
  let left = budget;
  let media = reading.budget / 2;
  const content: JsonObject[] = [];
  const rest: string[] = [];
  for (const [index, part] of shown.entries()) {
    if (part.kind === 'whole') {
      media -= mediaTokens(part.media, reading.budget);
      if (media >= 0) content.push(part.value);
      else rest.push(placeholder(part, id));
      continue;
    }
    const room = Math.floor(left / texts);
    texts -= 1;
    if (hasContent && index >= reading.contentParts) {
      const why = part.isRepeated ? 'says the same again' : `(${sizeOf(part)}) was left out`;
      rest.push(`${nameOf(part)} ${why}${reads(part, 0, id)}`);
      continue;
    }
    const begin = beginning(part, room, reading);
    left -= begin.tokens;
    content.push(begin.block);
    if (begin.isWhole) continue;
    const shape = part.shape === undefined ? '' : ` (${part.shape})`;
    rest.push(`${nameOf(part)}${shape}: ${begin.said}${reads(part, begin.count, id)}`);
  }
  if (reading.parts.length > MAX_PARTS) {
    const next = reading.parts[MAX_PARTS]?.offset ?? 0;
    rest.push(
      `${count(reading.parts.length - MAX_PARTS)} more blocks${id === undefined ? '' : `: ${callOf(id, { offset: next })}`}`,
    );
  }
  const size = `${bytesOf(bytesIn(reading))}, about ${count(tokensOf(reading))} tokens`;
  content.push({ type: 'text', text: note({ id, size, keptFor, rest }) });
  const { _meta: meta, ...members } = reading.members;
  const kept = id === undefined ? {} : { id, total: reading.total };
  return Payload.of({
    ...members,
    content,
    _meta: { ...(meta as JsonObject | undefined), 'trunkline/result': { ...kept, bytes } },
  });
}

interface NoteOptions {
  readonly id: string | undefined;
  readonly size: string;
  readonly keptFor: string;
  readonly rest: readonly string[];
}

function note({ id, size, keptFor, rest }: NoteOptions): string {
  const lines = rest.map((line) => `- ${line}`).join('\n');
  if (id === undefined)
    return `[Cut: this result (${size}) is larger than all that may be kept (results.maxBytes), so the rest is lost. Ask the tool for less.\n${lines}]`;
  return `[Cut: this result is long (${size}). It is kept whole, until ${keptFor} after the last look.\n${lines}\nTo search in it: read_result {"id":"${id}","find":"text or /regex/"}]`;
}

interface Beginning {
  readonly block: JsonObject;
  readonly count: number;
  readonly tokens: number;
  readonly isWhole: boolean;
  readonly said: string;
}

function beginning(part: Extract<ReadPart, { kind: 'text' }>, room: number, reading: Reading): Beginning {
  const taken = take(part, { from: 0, most: Infinity, room, reading });
  const isWhole = taken?.count === part.count;
  const text = taken === undefined ? firstChars(part.cuts.unit(0), room) : textUpTo(part, taken.count);
  const said =
    taken === undefined
      ? `the beginning of the first ${part.unit} is shown`
      : `the first ${count(taken.count)} of ${units(part)} are shown`;
  const { estimate } = reading;
  return {
    block: part.block(text),
    count: taken?.count ?? 0,
    tokens: taken?.tokens ?? estimate(text),
    isWhole,
    said,
  };
}

function textUpTo({ cuts }: Extract<ReadPart, { kind: 'text' }>, end: number): string {
  return cuts.text.slice(0, cuts.start(end));
}

/** No character costs more than a token. */
function firstChars(text: string, room: number): string {
  const cut = text.slice(0, room);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

function units({ count: number, unit }: Extract<ReadPart, { kind: 'text' }>): string {
  return `${count(number)} ${unit}${number === 1 ? '' : 's'}`;
}

function sizeOf(part: Extract<ReadPart, { kind: 'text' }>): string {
  return part.shape ?? units(part);
}

function placeholder(part: Extract<ReadPart, { kind: 'whole' }>, id: string | undefined): string {
  const { mimeType, length } = part.media;
  // The type is a server's word, which must not write lines of ours.
  const type = mimeType.slice(0, 60).replaceAll(/[^\w/.+-]/g, '?');
  const how = id === undefined ? '' : `: ${callOf(id, { offset: part.offset, limit: 1 })} gives it whole`;
  return `${nameOf(part)} (${type}, ${bytesOf((length / 4) * 3)}) was left out${how}`;
}

function reads({ offset }: ReadPart, done: number, id: string | undefined): string {
  return id === undefined ? '' : `; go on with ${callOf(id, { offset: offset + done })}`;
}

export function callOf(id: string, args: JsonObject): string {
  return `read_result ${stringifyExact({ id, ...args })}`;
}

function bytesOf(bytes: number): string {
  if (bytes < 1_000) return `${Math.ceil(bytes)} bytes`;
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Of what a model may want to read: without the frame, and nothing twice. */
function bytesIn({ parts }: Reading): number {
  let bytes = 0;
  for (const part of parts) {
    if (part.kind === 'whole') bytes += (part.media.length / 4) * 3;
    else if (!part.isRepeated) bytes += Buffer.byteLength(part.text);
  }
  return bytes;
}

/** From the beginning of each text, since a model only wants to know whether it is much. */
function tokensOf({ parts, estimate }: Reading): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.kind === 'whole' || part.isRepeated) continue;
    const sample = part.text.slice(0, SAMPLE_CHARS);
    if (sample !== '') tokens += (estimate(sample) * part.text.length) / sample.length;
  }
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(tokens + 1)) - 1);
  return Math.round(tokens / digits) * digits;
}

const SAMPLE_CHARS = 50_000;
