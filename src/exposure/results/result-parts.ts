import { stringifyExact } from '../../core/lib/exact-json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { parseMedia } from './media.ts';
import type { MediaContent } from './media.ts';

/**
 * A part of a result that can be read by itself: a content block, or another member of the result. `pointer` is its JSON pointer in the
 * result.
 */
export type ResultPart =
  | {
      readonly kind: 'text';
      readonly pointer: string;
      readonly text: string;
      /** Returns the content block with an excerpt of the text in place of the whole. */
      toBlock(excerpt: string): JsonObject;
    }
  | {
      readonly kind: 'media';
      readonly pointer: string;
      readonly media: MediaContent;
      readonly value: JsonObject;
    };

/**
 * The maximum size of a block without its text. Every excerpt repeats the rest of its block; a block whose rest is larger is treated
 * as JSON text instead.
 */
const MAX_REST_CHARS = 500;

/** Returns the part of a content block. */
export function createBlockPart(block: unknown, index: number): ResultPart {
  const pointer = `/content/${index}`;
  if (!isJsonObject(block)) return createJsonPart(pointer, block);
  const media = parseMedia(block);
  if (media !== undefined) return { kind: 'media', pointer, media, value: block };
  const { type, text, resource } = block;
  if (type === 'text' && typeof text === 'string') {
    const toBlock = (excerpt: string): JsonObject => ({ ...block, text: excerpt });
    if (canRepeatBlock(toBlock)) return { kind: 'text', pointer: `${pointer}/text`, text, toBlock };
  }
  if (type === 'resource' && isJsonObject(resource) && typeof resource['text'] === 'string') {
    const toBlock = (excerpt: string): JsonObject => ({ ...block, resource: { ...resource, text: excerpt } });
    if (canRepeatBlock(toBlock))
      return { kind: 'text', pointer: `${pointer}/resource/text`, text: resource['text'], toBlock };
  }
  return createJsonPart(pointer, block);
}

/** Returns a part that shows a value as JSON text: a member of the result, or a block whose text cannot be cut. */
export function createJsonPart(pointer: string, value: unknown): ResultPart {
  return {
    kind: 'text',
    pointer,
    text: stringifyExact(value),
    toBlock: (text) => ({ type: 'text', text }),
  };
}

/**
 * Returns a label for notes, such as `content[0]` for `/content/0/text`. The names of other members come from the server, so characters
 * that could forge a line of a note are replaced.
 */
export function partLabel({ pointer }: Pick<ResultPart, 'pointer'>): string {
  const [, member = '', index] = pointer.split('/');
  if (member === 'content' && index !== undefined) return `content[${index}]`;
  return member.slice(0, 60).replaceAll(/[^\w~.-]/g, '?');
}

function canRepeatBlock(toBlock: (excerpt: string) => JsonObject): boolean {
  return stringifyExact(toBlock('')).length <= MAX_REST_CHARS;
}
