import type { CatalogView } from '../../gateway/catalog-view.ts';
import { findClientLimits } from './known-clients.ts';
import type { ClientLimits } from './known-clients.ts';
import { rewriteTools } from './rewrite-tools.ts';
import type { ToolRewrite } from './rewrite-tools.ts';

/**
 * Returns how tools are changed for a client with this `clientInfo.name`, and why; undefined for an unknown
 * client.
 */
export function explainRewrites(
  view: CatalogView,
  client: string,
):
  | {
      readonly limits: ClientLimits;
      readonly rewrites: readonly ToolRewrite[];
      /** The number of tools beyond the client's limit; 0 if it accepts all. */
      readonly excess: number;
    }
  | undefined {
  const limits = findClientLimits(client);
  if (limits === undefined) return undefined;
  return { limits, rewrites: rewriteTools(view, limits).rewrites, excess: countExcessTools(view, limits) };
}

export function countExcessTools(view: CatalogView, { tools = Infinity }: ClientLimits): number {
  return Math.max(0, view.tools.length - tools);
}
