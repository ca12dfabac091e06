import type { JsonObject } from '../../model/json.ts';
import { FINDING } from '../meta-tools.ts';

const DESCRIBING = 'TypeScript declarations of up to 10 tools.';

/** Every word here is paid for in every session, so there are few. */
export const CODE_TOOLS: readonly JsonObject[] = [
  ...FINDING.map((tool) => (tool['name'] === 'describe_tools' ? { ...tool, description: DESCRIBING } : tool)),
  {
    name: 'run_code',
    description:
      'Run JavaScript or TypeScript that calls tools: `await tools.NAME({…})`. Promise.all runs calls in parallel. The last expression or `return` is the result; console.log is shown. No network, no files.',
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'string' } },
      required: ['code'],
    },
    // It can call every tool.
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];
