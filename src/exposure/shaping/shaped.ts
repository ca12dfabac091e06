import type { View } from '../../gateway/view.ts';
import type { Exposure } from '../exposure.ts';
import type { ClientLimits } from './known-clients.ts';
import { excessOf } from './rewrites-for.ts';
import { shapeOf } from './shape.ts';
import type { Shape } from './shape.ts';

/** An exposure within the limits of a client. What is renamed is found again by a map, never by reading the name. */
export function shaped(inner: Exposure, limits: ClientLimits): Exposure {
  const shapes = new WeakMap<View, Shape>();
  const shapeFor = (view: View): Shape => {
    let shape = shapes.get(view);
    if (shape === undefined) shapes.set(view, (shape = shapeOf(view, limits)));
    return shape;
  };
  return {
    ...inner,
    client: limits.client,
    instructions: (view) => {
      const notice = inner.kind === 'direct' ? excessNotice(view, limits) : undefined;
      return notice === undefined ? inner.instructions(view) : `${inner.instructions(view)}\n${notice}`;
    },
    tools: (view, revealed) => {
      const shape = shapeFor(view);
      return inner.tools(view, revealed).map((definition) => shape.tool(definition));
    },
    callTool: (name, request, context) =>
      inner.callTool(shapeFor(context.view).exposedName(name) ?? name, request, context),
  };
}

function excessNotice(view: View, limits: ClientLimits): string | undefined {
  if (excessOf(view, limits) === 0) return undefined;
  return `${view.tools.length} tools are listed, but ${limits.client} takes ${limits.tools}: some may not be shown. With expose.kind "search" all can be found.`;
}
