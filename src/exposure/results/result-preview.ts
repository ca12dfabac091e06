import { stringifyExact } from '../../core/lib/exact-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import { estimateMediaTokens } from './media.ts';
import { countUnits, previewText } from './preview-text.ts';
import { partLabel } from './result-parts.ts';
import type { PagedPart, PagedResult } from './paged-result.ts';
import { formatNumber } from './describe-json.ts';

/** The texts of a preview may take a third of the tokens of a page. Media may take half a page in addition. */
const PREVIEW_DIVISOR = 3;
/** The number of parts that a preview shows or names; the remaining ones are only counted. */
const MAX_PARTS = 10;
/** Characters of each text from which its tokens are extrapolated. */
const SAMPLE_CHARS = 50_000;

interface PreviewOptions {
  /** Undefined if the result is too large to be stored. */
  readonly id: string | undefined;
  readonly bytes: number;
  readonly keptFor: string;
}

/** Returns the beginning of every part, a list of what was left out, and the exact call that reads more. */
export function createPreview(result: PagedResult, { id, bytes, keptFor }: PreviewOptions): Payload {
  const previewedParts = result.parts.slice(0, MAX_PARTS);
  // Members such as `structuredContent` mostly repeat the content, so they are only named if there is content.
  const hasContent = result.contentParts > 0;
  let textsLeft = previewedParts.filter((part) => part.kind === 'text').length;
  let textBudget = result.budget / PREVIEW_DIVISOR;
  let mediaBudget = result.budget / 2;
  const content: JsonObject[] = [];
  const omissions: string[] = [];
  for (const [index, part] of previewedParts.entries()) {
    if (part.kind === 'media') {
      mediaBudget -= estimateMediaTokens(part.media, result.budget);
      if (mediaBudget >= 0) content.push(part.value);
      else omissions.push(describeOmittedMedia(part, id));
      continue;
    }
    // Each text gets an equal share of the remaining budget, so the texts after it receive what it does not
    // need.
    const room = Math.floor(textBudget / textsLeft);
    textsLeft -= 1;
    if (hasContent && index >= result.contentParts) {
      const reason = part.isRepeated ? 'repeats the content' : `(${describeSize(part)}) was left out`;
      omissions.push(`${partLabel(part)} ${reason}${formatContinuation(part, 0, id)}`);
      continue;
    }
    const preview = previewText(part, room, result);
    textBudget -= preview.tokens;
    content.push(...preview.blocks);
    if (preview.isWhole) continue;
    const shape = part.shape === undefined ? '' : ` (${part.shape})`;
    const continuation = formatContinuation(part, preview.count, id);
    omissions.push(`${partLabel(part)}${shape}: ${preview.description}${continuation}`);
  }
  if (result.parts.length > MAX_PARTS) {
    const next = result.parts[MAX_PARTS]?.offset ?? 0;
    omissions.push(
      `${formatNumber(result.parts.length - MAX_PARTS)} more blocks${id === undefined ? '' : `: ${formatReadCall(id, { offset: next })}`}`,
    );
  }
  const size = `${formatBytes(readableBytes(result))}, about ${formatNumber(estimateTotalTokens(result))} tokens`;
  content.push({ type: 'text', text: formatNote({ id, size, keptFor, omissions }) });
  const { _meta: meta, ...members } = result.members;
  const total = id === undefined ? undefined : result.total;
  return Payload.of({
    ...members,
    content,
    _meta: { ...(meta as JsonObject | undefined), 'trunkline/result': { id, total, bytes } },
  });
}

interface NoteOptions {
  readonly id: string | undefined;
  readonly size: string;
  readonly keptFor: string;
  readonly omissions: readonly string[];
}

function formatNote({ id, size, keptFor, omissions }: NoteOptions): string {
  const lines = omissions.map((line) => `- ${line}`).join('\n');
  if (id === undefined)
    return `[Cut: this result (${size}) exceeds the storage limit (results.maxBytes), so the rest is lost. Ask the tool for less.\n${lines}]`;
  return `[Cut: this result is long (${size}). The whole result is stored until ${keptFor} after it was last read.\n${lines}\nOnly a part of it: read_result {"id":"${id}","find":"text or /regex/"} or {"id":"${id}","select":"JavaScript over data"}]`;
}

function describeSize(part: Extract<PagedPart, { kind: 'text' }>): string {
  return part.shape ?? countUnits(part);
}

function describeOmittedMedia(part: Extract<PagedPart, { kind: 'media' }>, id: string | undefined): string {
  const { mimeType, length } = part.media;
  // The MIME type comes from the server and must not inject lines into our note.
  const type = mimeType.slice(0, 60).replaceAll(/[^\w/.+-]/g, '?');
  const readCall =
    id === undefined ? '' : `: ${formatReadCall(id, { offset: part.offset, limit: 1 })} gives it whole`;
  return `${partLabel(part)} (${type}, ${formatBytes((length / 4) * 3)}) was left out${readCall}`;
}

function formatContinuation({ offset }: PagedPart, unitsShown: number, id: string | undefined): string {
  return id === undefined ? '' : `; continue with ${formatReadCall(id, { offset: offset + unitsShown })}`;
}

export function formatReadCall(id: string, args: JsonObject): string {
  return `read_result ${stringifyExact({ id, ...args })}`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${Math.ceil(bytes)} bytes`;
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns the size of the texts and media, without the JSON around them and without repetitions. */
function readableBytes({ parts }: PagedResult): number {
  let bytes = 0;
  for (const part of parts) {
    // Four characters of base64 encode three bytes.
    if (part.kind === 'media') bytes += (part.media.length / 4) * 3;
    else if (!part.isRepeated) bytes += Buffer.byteLength(part.text);
  }
  return bytes;
}

/** Extrapolates from the beginning of each text, because a model only needs the order of magnitude. */
function estimateTotalTokens({ parts, estimate }: PagedResult): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.kind === 'media' || part.isRepeated) continue;
    const sample = part.text.slice(0, SAMPLE_CHARS);
    if (sample !== '') tokens += (estimate(sample) * part.text.length) / sample.length;
  }
  // Rounds to two significant digits.
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(tokens + 1)) - 1);
  return Math.round(tokens / digits) * digits;
}
