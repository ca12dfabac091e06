import type { Exposure } from './exposure.ts';
import { formatServerLines } from './format-server-lines.ts';
import { toListedTool } from './to-listed-tool.ts';

/** Lists every visible tool under its exposed name. */
export const directExposure: Exposure = {
  kind: 'direct',
  dependsOnListings: true,
  instructions: (view) =>
    `These tools come from several MCP servers and are all listed; a tool's name begins with the name of its server.\n${formatServerLines(view)}`,
  tools: (view) => view.tools.map((entry) => toListedTool(entry, view)),
  digest: (view) => view.digests.tools,
  callTool: (name, request, context) => context.call(name, request),
};
