import type { CatalogView } from '../../gateway/catalog-view.ts';
import type { Exposure } from '../exposure.ts';
import type { ClientLimits } from './known-clients.ts';
import { countExcessTools } from './explain-rewrites.ts';
import { rewriteTools } from './rewrite-tools.ts';
import type { RewrittenTools } from './rewrite-tools.ts';

/** Adapts an exposure to the limits of a client. Renamed tools are mapped back with a table, never by parsing the name. */
export function withClientLimits(inner: Exposure, limits: ClientLimits): Exposure {
  const rewrittenByView = new WeakMap<CatalogView, RewrittenTools>();
  const rewrittenTools = (view: CatalogView): RewrittenTools => {
    let rewritten = rewrittenByView.get(view);
    if (rewritten === undefined) rewrittenByView.set(view, (rewritten = rewriteTools(view, limits)));
    return rewritten;
  };
  return {
    ...inner,
    client: limits.client,
    instructions: (view) => {
      const notice = inner.kind === 'direct' ? excessNotice(view, limits) : undefined;
      return notice === undefined ? inner.instructions(view) : `${inner.instructions(view)}\n${notice}`;
    },
    tools: (view, revealed) => {
      const rewritten = rewrittenTools(view);
      return inner.tools(view, revealed).map((definition) => rewritten.tool(definition));
    },
    callTool: (name, request, context) =>
      inner.callTool(rewrittenTools(context.view).exposedName(name) ?? name, request, context),
  };
}

function excessNotice(view: CatalogView, limits: ClientLimits): string | undefined {
  if (countExcessTools(view, limits) === 0) return undefined;
  return `${view.tools.length} tools are listed, but ${limits.client} accepts only ${limits.tools}, so some may not be shown. With expose.kind "search", all of them can be found.`;
}
