import type { View } from '../gateway/view.ts';
import { stringifyExact } from '../lib/exact-json.ts';
import { direct } from './direct.ts';
import type { Exposure, ExposureChoice } from './exposure.ts';
import { search } from './search.ts';
import type { SearchOptions } from './search.ts';
import { limitsOf } from './shaping/known-clients.ts';
import type { ClientLimits } from './shaping/known-clients.ts';
import { excessOf } from './shaping/rewrites-for.ts';
import { shaped } from './shaping/shaped.ts';
import { estimateTokens } from './tokens.ts';

interface ChoiceOptions extends SearchOptions {
  readonly kind: 'auto' | 'direct' | 'search' | 'code';
  /** Presents tools to scripts; without it, `code` is `search`. */
  readonly code?: Exposure;
  readonly directBudget: number;
  /** Whether the limits of known clients are kept to; they are not unless said. */
  readonly shape?: boolean;
  /** More tools are listed than the client takes; told once for each view and kind of client. */
  readonly onExcess?: (excess: {
    readonly client: string;
    readonly tools: number;
    readonly limit: number | undefined;
  }) => void;
}

/** The same view gets the same exposure, for clients of the same kind. */
export function chooseExposure(options: ChoiceOptions): ExposureChoice {
  const searching = search(options);
  const indirect = options.kind === 'code' ? (options.code ?? searching) : searching;
  const chosen = new WeakMap<View, Map<string, Exposure>>();
  const forClients = new Map<string, Exposure>();
  const shapedFor = (inner: Exposure, limits: ClientLimits): Exposure => {
    const key = `${inner.kind} ${limits.client}`;
    let exposure = forClients.get(key);
    if (exposure === undefined) forClients.set(key, (exposure = shaped(inner, limits)));
    return exposure;
  };
  const choose = (view: View, limits: ClientLimits | undefined): Exposure => {
    const inner = isDirect(view, options, limits) ? direct : indirect;
    if (limits === undefined) return inner;
    if (inner === direct && excessOf(view, limits) > 0)
      options.onExcess?.({ client: limits.client, tools: view.tools.length, limit: limits.tools });
    return shapedFor(inner, limits);
  };
  return (view, client) => {
    const limits = options.shape === true && client !== undefined ? limitsOf(client) : undefined;
    let ofView = chosen.get(view);
    if (ofView === undefined) chosen.set(view, (ofView = new Map<string, Exposure>()));
    const key = limits?.client ?? '';
    let exposure = ofView.get(key);
    if (exposure === undefined) ofView.set(key, (exposure = choose(view, limits)));
    return exposure;
  };
}

function isDirect(view: View, options: ChoiceOptions, limits: ClientLimits | undefined): boolean {
  const { kind, directBudget } = options;
  if (kind !== 'auto') return kind === 'direct';
  return (limits === undefined || excessOf(view, limits) === 0) && isCheap(view, directBudget);
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
