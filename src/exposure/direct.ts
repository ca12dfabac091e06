import type { Exposure } from './exposure.ts';
import { serverLines } from './instructions.ts';

/** Every visible tool under its exposed name. */
export const direct: Exposure = {
  kind: 'direct',
  instructions: (view) =>
    `These tools come from several MCP servers; a tool's name begins with the name of its server.\n${serverLines(view)}`,
  tools: (view) => view.tools.map((entry) => ({ ...entry.definition, name: entry.name })),
  callTool: (name, request, call) => call(name, request),
};
