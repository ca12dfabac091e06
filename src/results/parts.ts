import { stringifyExact } from '../lib/exact-json.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { mediaOf } from './media.ts';
import type { Media } from './media.ts';

/** A piece of a result that is read by itself. `pointer` says where it stands in the result, as a JSON pointer. */
export type Part =
  | {
      readonly kind: 'text';
      readonly pointer: string;
      readonly text: string;
      /** The block of content that a piece of the text is shown as. */
      block(text: string): JsonObject;
    }
  | {
      readonly kind: 'whole';
      readonly pointer: string;
      readonly media: Media;
      readonly value: JsonObject;
    };

/** What a block may have besides its text to be shown with each piece of it. */
const MAX_FRAME_CHARS = 500;

export function blockPart(block: unknown, index: number): Part {
  const pointer = `/content/${index}`;
  if (!isJsonObject(block)) return jsonPart(pointer, block);
  const media = mediaOf(block);
  if (media !== undefined) return { kind: 'whole', pointer, media, value: block };
  const { type, text, resource } = block;
  if (type === 'text' && typeof text === 'string' && isSmallFrame({ ...block, text: '' })) {
    return { kind: 'text', pointer: `${pointer}/text`, text, block: (piece) => ({ ...block, text: piece }) };
  }
  if (type === 'resource' && isJsonObject(resource) && typeof resource['text'] === 'string') {
    const framed = (piece: string): JsonObject => ({ ...block, resource: { ...resource, text: piece } });
    if (isSmallFrame(framed('')))
      return { kind: 'text', pointer: `${pointer}/resource/text`, text: resource['text'], block: framed };
  }
  return jsonPart(pointer, block);
}

/** Whatever else there is, as the JSON that it is. */
export function jsonPart(pointer: string, value: unknown): Part {
  return {
    kind: 'text',
    pointer,
    text: stringifyExact(value),
    block: (text) => ({ type: 'text', text }),
  };
}

/** `/content/0/text` as `content[0]`; other names are a server's words, which must not write lines of ours. */
export function nameOf({ pointer }: Pick<Part, 'pointer'>): string {
  const [, member = '', index] = pointer.split('/');
  if (member === 'content' && index !== undefined) return `content[${index}]`;
  return member.slice(0, 60).replaceAll(/[^\w~.-]/g, '?');
}

function isSmallFrame(frame: JsonObject): boolean {
  return stringifyExact(frame).length <= MAX_FRAME_CHARS;
}
