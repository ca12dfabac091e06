import type { CatalogView } from '../gateway/catalog-view.ts';
import { stringifyExact } from '../core/lib/exact-json.ts';
import { chooseExposure } from './choose-exposure.ts';
import { estimateTokens } from './estimate-tokens.ts';

/**
 * Estimates the tokens that every chat spends on tool definitions: `whole` if every tool were listed, and `menu` for the tools and instructions
 * that the exposure presents.
 */
export function estimateListingCost(
  view: CatalogView,
  options: Parameters<typeof chooseExposure>[0],
): { readonly whole: number; readonly menu: number } {
  const exposure = chooseExposure(options)(view);
  const whole = view.tools.reduce(
    (sum, { definition }) => sum + estimateTokens(stringifyExact(definition)),
    0,
  );
  if (exposure.kind === 'direct') return { whole, menu: whole };
  const listed = exposure.tools(view).reduce((sum, tool) => sum + estimateTokens(stringifyExact(tool)), 0);
  return { whole, menu: listed + estimateTokens(exposure.instructions(view)) };
}
