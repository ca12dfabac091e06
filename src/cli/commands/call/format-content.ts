import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { stringifyExact } from '../../../core/lib/exact-json.ts';
import { sanitize, toOneLine } from '../../sanitize.ts';
import { saveContent } from './save-content.ts';

/** Formats the content blocks of a result as text. Binary content is saved if a folder is given, and otherwise only described. */
export async function formatContent(
  blocks: readonly unknown[],
  folder: string | undefined,
): Promise<readonly string[]> {
  const lines: string[] = [];
  let at = 0;
  for (const block of blocks) {
    at += 1;
    lines.push(await formatBlock(isJsonObject(block) ? block : {}, { at, folder }));
  }
  return lines;
}

/** Whether a line reports where content was saved. */
export function isSavedLine(line: string): boolean {
  return /^\[(?:image|audio|resource): .*, saved to .*\]$/.test(line);
}

/** Returns the content blocks of a result. If there are none, returns its structured content as text. */
export function readContentBlocks(result: JsonObject): readonly unknown[] {
  const { content, structuredContent } = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  if (blocks.length > 0 || structuredContent === undefined) return blocks;
  return [{ type: 'text', text: stringifyExact(structuredContent, 2) }];
}

interface BlockContext {
  /** The number of the block, starting at 1. */
  readonly at: number;
  readonly folder: string | undefined;
}

async function formatBlock(block: JsonObject, context: BlockContext): Promise<string> {
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === 'text' && typeof text === 'string') return sanitize(text);
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return formatBinary({ kind: type, base64: data, mimeType, nameHint: `${type}-${context.at}` }, context);
  if (type === 'resource' && isJsonObject(resource)) return formatResource(resource, context);
  if (type === 'resource_link')
    return `[resource: ${[toOneLine(uri), toOneLine(name)].filter((text) => text !== '').join(' ')}]`;
  return typeof text === 'string'
    ? sanitize(text)
    : `[${toOneLine(type, 'content')}: cannot be shown as text]`;
}

/** Formats one part of a resource. */
export async function formatResource(resource: JsonObject, context: BlockContext): Promise<string> {
  const { uri, text, blob, mimeType } = resource;
  if (typeof blob === 'string') {
    const nameHint = typeof uri === 'string' ? uri : `resource-${context.at}`;
    return formatBinary({ kind: 'resource', base64: blob, mimeType, nameHint }, context);
  }
  return typeof text === 'string' ? sanitize(text) : `[resource: ${toOneLine(uri)}]`;
}

async function formatBinary(
  content: {
    readonly kind: string;
    readonly base64: string;
    readonly mimeType: unknown;
    readonly nameHint: string;
  },
  { folder }: BlockContext,
): Promise<string> {
  const bytes = Buffer.from(content.base64, 'base64');
  const mimeType = typeof content.mimeType === 'string' ? content.mimeType : undefined;
  const about = `${content.kind}: ${toOneLine(mimeType, 'unknown type')}, ${bytes.length} bytes`;
  if (folder === undefined) return `[${about}; save it with --out FOLDER]`;
  const path = await saveContent(folder, { bytes, nameHint: content.nameHint, mimeType });
  return `[${about}, saved to ${path}]`;
}
