import type { CatalogView } from '../gateway/catalog-view.ts';
import { stringifyExact } from '../core/lib/exact-json.ts';
import { createTruncatingDirectExposure, directExposure } from './direct-exposure.ts';
import type { Exposure, ExposureChoice } from './exposure.ts';
import { createSearchExposure } from './search-exposure.ts';
import type { SearchExposureOptions } from './search-exposure.ts';
import { findClientLimits } from './client-limits/known-clients.ts';
import type { ClientLimits } from './client-limits/known-clients.ts';
import { countExcessTools } from './client-limits/explain-rewrites.ts';
import { withClientLimits } from './client-limits/with-client-limits.ts';
import { estimateTokens } from './estimate-tokens.ts';

interface ChoiceOptions extends SearchExposureOptions {
  readonly kind: 'auto' | 'direct' | 'search' | 'code';
  /** The exposure for `kind: 'code'`; without it, `code` falls back to `search`. */
  readonly code?: Exposure;
  /** With `auto`, all tools are listed if they cost fewer tokens than this. */
  readonly directBudget: number;
  /** Whether to respect the limits of known clients; off by default. */
  readonly shape?: boolean;
  /** Called once per view and kind of client if more tools are listed than the client accepts. */
  readonly onExcess?: (excess: {
    readonly client: string;
    readonly tools: number;
    readonly limit: number | undefined;
  }) => void;
}

/** Returns a function that chooses the exposure. For clients of the same kind, the same view always gets the same exposure object. */
export function chooseExposure(options: ChoiceOptions): ExposureChoice {
  const search = createSearchExposure(options);
  const indirect = options.kind === 'code' ? (options.code ?? search) : search;
  const chosenByView = new WeakMap<CatalogView, Map<string, Exposure>>();
  const limitedByClient = new Map<string, Exposure>();
  const limit = (inner: Exposure, limits: ClientLimits): Exposure => {
    const key = `${inner.kind} ${inner.isProvisional === true} ${limits.client}`;
    let exposure = limitedByClient.get(key);
    if (exposure === undefined) limitedByClient.set(key, (exposure = withClientLimits(inner, limits)));
    return exposure;
  };
  const provisional = { ...indirect, isProvisional: true };
  const indirectFor = (view: CatalogView): Exposure =>
    options.kind === 'auto' && hasUnlistedServer(view) ? provisional : indirect;
  const { results, select } = options;
  const truncating =
    results?.isEnabled === true ? createTruncatingDirectExposure(results, select) : undefined;
  const directFor = (limits: ClientLimits | undefined): Exposure =>
    (limits?.passesLongResults === true ? truncating : undefined) ?? directExposure;
  const choose = (view: CatalogView, limits: ClientLimits | undefined): Exposure => {
    const inner = isDirect(view, options, limits) ? directFor(limits) : indirectFor(view);
    if (limits === undefined) return inner;
    if (inner.kind === 'direct' && countExcessTools(view, limits) > 0)
      options.onExcess?.({ client: limits.client, tools: view.tools.length, limit: limits.tools });
    return limit(inner, limits);
  };
  return (view, client) => {
    const limits = options.shape === true && client !== undefined ? findClientLimits(client) : undefined;
    let byClient = chosenByView.get(view);
    if (byClient === undefined) chosenByView.set(view, (byClient = new Map<string, Exposure>()));
    const key = limits?.client ?? '';
    let exposure = byClient.get(key);
    if (exposure === undefined) byClient.set(key, (exposure = choose(view, limits)));
    return exposure;
  };
}

function isDirect(view: CatalogView, options: ChoiceOptions, limits: ClientLimits | undefined): boolean {
  const { kind, directBudget } = options;
  if (kind !== 'auto') return kind === 'direct';
  return (limits === undefined || countExcessTools(view, limits) === 0) && fitsBudget(view, directBudget);
}

/** Whether every listing has been fetched and all tools together cost fewer tokens than the budget. */
function fitsBudget(view: CatalogView, budget: number): boolean {
  if (hasUnlistedServer(view)) return false;
  let left = budget;
  for (const { definition } of view.tools) {
    left -= estimateTokens(stringifyExact(definition), left);
    if (left <= 0) return false;
  }
  return true;
}

function hasUnlistedServer({ servers }: CatalogView): boolean {
  return servers.some(({ facts }) => facts === undefined);
}
