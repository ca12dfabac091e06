import type { View } from '../../gateway/view.ts';
import { limitsOf } from './known-clients.ts';
import type { ClientLimits } from './known-clients.ts';
import { shapeOf } from './shape.ts';
import type { Rewrite } from './shape.ts';

/** What a client of this name (`clientInfo.name`) sees otherwise than others do, and why; undefined when nothing is known of it. */
export function rewritesFor(
  view: View,
  client: string,
):
  | {
      readonly limits: ClientLimits;
      readonly rewrites: readonly Rewrite[];
      /** How many tools there are more than it takes; 0 when it takes them all. */
      readonly excess: number;
    }
  | undefined {
  const limits = limitsOf(client);
  if (limits === undefined) return undefined;
  return { limits, rewrites: shapeOf(view, limits).rewrites, excess: excessOf(view, limits) };
}

export function excessOf(view: View, { tools = Infinity }: ClientLimits): number {
  return Math.max(0, view.tools.length - tools);
}
