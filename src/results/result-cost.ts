import type { Payload } from '../lib/payload.ts';
import { isJsonObject } from '../model/json.ts';
import { mediaOf, mediaTokens } from './media.ts';

/** About how many tokens a text costs, at most one per character; may stop counting above `stopAt`. */
export type Estimate = (text: string, stopAt?: number) => number;

/**
 * Whether a result costs a model more than so many tokens. Clients show content or structured content, so that the larger of
 * the two counts. Most results are decided by their length alone.
 */
export function isOversized(payload: Payload, maxTokens: number, estimate: Estimate): boolean {
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
  if (structuredContent === undefined || length - chars <= maxTokens) return false;
  return estimate(JSON.stringify(structuredContent), maxTokens) > maxTokens;
}

/** Only blanks are cheaper; what is longer need not be read to know that it is too much. */
const MAX_CHARS_PER_TOKEN = 20;

interface CostOptions {
  readonly maxTokens: number;
  readonly estimate: Estimate;
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
  const media = mediaOf(block);
  if (media !== undefined) return { tokens: mediaTokens(media, maxTokens), chars: media.length };
  const json = JSON.stringify(block);
  return { tokens: estimate(json, left), chars: json.length };
}
