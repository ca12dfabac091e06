import { rewritesFor } from '../../exposure/shaping/rewrites-for.ts';
import type { View } from '../../gateway/view.ts';
import type { AdminExplanation } from '../contract/contract.ts';

/** How a client sees a tool otherwise than others do; the name may also be the one that only this client sees. */
export function clientExplained(
  view: View,
  asked: string,
  client: string | undefined,
): { readonly name: string; readonly forClient?: AdminExplanation['forClient'] } {
  if (client === undefined) return { name: asked };
  const known = rewritesFor(view, client);
  if (known === undefined) return unchanged(view, asked, client, `No limits of "${client}" are known`);
  const { limits, rewrites, excess } = known;
  const name = rewrites.find(({ shown }) => shown === asked)?.tool ?? asked;
  const own = rewrites.filter(({ tool }) => tool === name);
  const says = own.map((rewrite) => rewrite.says);
  if (excess > 0)
    says.push(
      `${limits.client} takes ${limits.tools} tools, and there are ${excess} more; use expose "search".`,
    );
  if (says.length === 0) return unchanged(view, name, limits.client, `${limits.client} takes it`);
  const shown = own.find((rewrite) => rewrite.shown !== undefined)?.shown ?? name;
  return { name, forClient: { client: limits.client, name: shown, says } };
}

/** Only of tools: nothing else is ever shown otherwise. */
function unchanged(
  view: View,
  name: string,
  client: string,
  reason: string,
): ReturnType<typeof clientExplained> {
  if (view.tool(name) === undefined) return { name };
  return { name, forClient: { client, name, says: [`${reason}, so that it is shown there as it is.`] } };
}
