import type { View } from '../gateway/view.ts';
import { stringifyExact } from '../lib/exact-json.ts';
import { direct } from './direct.ts';
import type { Exposure, ExposureChoice } from './exposure.ts';
import { search } from './search.ts';
import type { SearchOptions } from './search.ts';
import { estimateTokens } from './tokens.ts';

interface ChoiceOptions extends SearchOptions {
  readonly kind: 'auto' | 'direct' | 'search';
  readonly directBudget: number;
}

/** The same view gets the same exposure. */
export function chooseExposure(options: ChoiceOptions): ExposureChoice {
  const { kind, directBudget } = options;
  const searching = search(options);
  if (kind !== 'auto') return () => (kind === 'direct' ? direct : searching);
  const chosen = new WeakMap<View, Exposure>();
  return (view) => {
    let exposure = chosen.get(view);
    if (exposure === undefined)
      chosen.set(view, (exposure = isCheap(view, directBudget) ? direct : searching));
    return exposure;
  };
}

/** Whether every server has been listed and all tools together cost less than the budget. */
function isCheap(view: View, budget: number): boolean {
  if (view.servers.some(({ facts }) => facts === undefined)) return false;
  let left = budget;
  for (const { definition } of view.tools) {
    left -= estimateTokens(stringifyExact(definition), left);
    if (left <= 0) return false;
  }
  return true;
}
