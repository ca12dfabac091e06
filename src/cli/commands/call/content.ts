import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import { stringifyExact } from '../../../lib/exact-json.ts';
import { harmless, inOneLine } from '../../harmless.ts';
import { saved } from './saved.ts';

/** Content blocks of a result as text for people; what is no text is saved where a folder is given, or only named. */
export async function contentLines(
  blocks: readonly unknown[],
  folder: string | undefined,
): Promise<readonly string[]> {
  const lines: string[] = [];
  let at = 0;
  for (const block of blocks) {
    at += 1;
    lines.push(await blockLine(isJsonObject(block) ? block : {}, { at, folder }));
  }
  return lines;
}

/** Whether a line says where something was saved, and not what it holds. */
export function isSaved(line: string): boolean {
  return /^\[(?:image|audio|resource): .*, saved to .*\]$/.test(line);
}

/** The content of a result, or its structured content where it has no other. */
export function blocksOf(result: JsonObject): readonly unknown[] {
  const { content, structuredContent } = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  if (blocks.length > 0 || structuredContent === undefined) return blocks;
  return [{ type: 'text', text: stringifyExact(structuredContent, 2) }];
}

interface Place {
  /** Which block it is, from 1. */
  readonly at: number;
  readonly folder: string | undefined;
}

async function blockLine(block: JsonObject, place: Place): Promise<string> {
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === 'text' && typeof text === 'string') return harmless(text);
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return binaryLine({ kind: type, base64: data, mimeType, wish: `${type}-${place.at}` }, place);
  if (type === 'resource' && isJsonObject(resource)) return resourceLine(resource, place);
  if (type === 'resource_link')
    return `[resource: ${[inOneLine(uri), inOneLine(name)].filter((each) => each !== '').join(' ')}]`;
  return typeof text === 'string'
    ? harmless(text)
    : `[${inOneLine(type, 'content')}: cannot be shown as text]`;
}

/** One of the contents of a resource. */
export async function resourceLine(resource: JsonObject, place: Place): Promise<string> {
  const { uri, text, blob, mimeType } = resource;
  if (typeof blob === 'string') {
    const wish = typeof uri === 'string' ? uri : `resource-${place.at}`;
    return binaryLine({ kind: 'resource', base64: blob, mimeType, wish }, place);
  }
  return typeof text === 'string' ? harmless(text) : `[resource: ${inOneLine(uri)}]`;
}

async function binaryLine(
  content: {
    readonly kind: string;
    readonly base64: string;
    readonly mimeType: unknown;
    readonly wish: string;
  },
  { folder }: Place,
): Promise<string> {
  const bytes = Buffer.from(content.base64, 'base64');
  const mimeType = typeof content.mimeType === 'string' ? content.mimeType : undefined;
  const about = `${content.kind}: ${inOneLine(mimeType, 'of unknown type')}, ${bytes.length} bytes`;
  if (folder === undefined) return `[${about}; --out DIR saves it]`;
  const path = await saved(folder, { bytes, wish: content.wish, mimeType });
  return `[${about}, saved to ${path}]`;
}
