import type { Payload } from '../../core/lib/payload.ts';
import { isJsonObject } from '../../core/json.ts';
import { parseMedia, estimateMediaTokens } from './media.ts';

/** Estimates the tokens of a text, at most one per character; may stop counting above `stopAt`. */
export type EstimateTokens = (text: string, stopAt?: number) => number;

/**
 * Whether a result costs a model more than `maxTokens`. Clients show either content or structured content, so
 * the larger of the two counts. For most results, the length alone decides, because no character costs more
 * than one token.
 */
export function isOversized(payload: Payload, maxTokens: number, estimate: EstimateTokens): boolean {
  const { length } = payload.text;
  if (length <= maxTokens) return false;
  const result = payload.peek;
  if (!isJsonObject(result) || result['resultType'] === 'input_required') return false;
  const { content, structuredContent } = result;
  let left = maxTokens;
  let chars = 0;
  for (const block of Array.isArray(content) ? (content as readonly unknown[]) : []) {
    const cost = blockCost(block, left, { maxTokens, estimate });
    left -= cost.tokens;
    chars += cost.chars;
    if (left < 0) return true;
  }
  // No character costs more than one token, so a short remainder of the JSON cannot contain large structured content.
  if (structuredContent === undefined || length - chars <= maxTokens) return false;
  return estimate(JSON.stringify(structuredContent), maxTokens) > maxTokens;
}

/**
 * The maximum number of characters per token in any text except whitespace. A text that exceeds the limit
 * even at this rate needs no estimate.
 */
const MAX_CHARS_PER_TOKEN = 20;

interface CostOptions {
  readonly maxTokens: number;
  readonly estimate: EstimateTokens;
}

function blockCost(
  block: unknown,
  left: number,
  { maxTokens, estimate }: CostOptions,
): { readonly tokens: number; readonly chars: number } {
  if (!isJsonObject(block)) return { tokens: estimate(JSON.stringify(block) ?? '', left), chars: 0 };
  const { type, text } = block;
  if (type === 'text' && typeof text === 'string')
    return {
      tokens: text.length > MAX_CHARS_PER_TOKEN * left ? Infinity : estimate(text, left),
      chars: text.length,
    };
  const media = parseMedia(block);
  if (media !== undefined) return { tokens: estimateMediaTokens(media, maxTokens), chars: media.length };
  const json = JSON.stringify(block);
  return { tokens: estimate(json, left), chars: json.length };
}
