import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

/** About what a model pays for an image; base64 is never shown to it as text. */
const MEDIA_TOKENS = 1_500;

export interface Media {
  readonly mimeType: string;
  /** Of the base64 text. */
  readonly length: number;
  /** Whether clients show it to a model as what it is. */
  readonly isSeen: boolean;
}

/** What a block carries that has no meaning as a text: an image, audio, or the bytes of a resource. */
export function mediaOf({ type, data, mimeType, resource }: JsonObject): Media | undefined {
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return { mimeType: typeof mimeType === 'string' ? mimeType : type, length: data.length, isSeen: true };
  }
  if (type !== 'resource' || !isJsonObject(resource) || typeof resource['blob'] !== 'string')
    return undefined;
  const { mimeType: given } = resource;
  const said = typeof given === 'string' ? given : 'bytes';
  return { mimeType: said, length: resource['blob'].length, isSeen: /^(?:image|audio)\//.test(said) };
}

/** What is seen costs as much as an image, whatever its bytes; other bytes end up in a context as they are. */
export function mediaTokens({ length, isSeen }: Media, maxTokens: number): number {
  return isSeen ? Math.min(MEDIA_TOKENS, maxTokens / 2) : length / 2;
}
