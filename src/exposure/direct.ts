import type { Exposure } from './exposure.ts';
import { serverLines } from './instructions.ts';
import { listedTool } from './listed-tool.ts';

/** Every visible tool under its exposed name. */
export const direct: Exposure = {
  kind: 'direct',
  instructions: (view) =>
    `These tools come from several MCP servers and are all listed; a tool's name begins with the name of its server.\n${serverLines(view)}`,
  tools: (view) => view.tools.map((entry) => listedTool(entry, view)),
  digest: (view) => view.digests.tools,
  callTool: (name, request, context) => context.call(name, request),
};
