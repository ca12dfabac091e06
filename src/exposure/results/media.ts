import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** The approximate cost of an image for a model; clients never show its base64 as text. */
const MEDIA_TOKENS = 1_500;

export interface MediaContent {
  readonly mimeType: string;
  /** The length of the base64 text. */
  readonly length: number;
  /** Whether clients show it to the model as an image or as audio. */
  readonly isNative: boolean;
}

/** Returns the binary content of a block: an image, audio, or the bytes of a resource. */
export function parseMedia({ type, data, mimeType, resource }: JsonObject): MediaContent | undefined {
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return { mimeType: typeof mimeType === 'string' ? mimeType : type, length: data.length, isNative: true };
  }
  if (type !== 'resource' || !isJsonObject(resource) || typeof resource['blob'] !== 'string')
    return undefined;
  const resourceType = typeof resource['mimeType'] === 'string' ? resource['mimeType'] : 'bytes';
  const isNative = /^(?:image|audio)\//.test(resourceType);
  return { mimeType: resourceType, length: resource['blob'].length, isNative };
}

/**
 * Estimates the tokens of media. Native media cost as much as an image, whatever their size; other bytes reach the model as base64 text
 * with about two characters per token.
 */
export function estimateMediaTokens({ length, isNative }: MediaContent, maxTokens: number): number {
  return isNative ? Math.min(MEDIA_TOKENS, maxTokens / 2) : length / 2;
}
