import { setImmediate as nextTurn } from 'node:timers/promises';

import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { NamedTool } from './inspection/cross-server-inspection.ts';
import type { InspectionFinding } from './inspection/inspection-finding.ts';

export type ScanFindings = readonly InspectionFinding[];

/** Finds the suspicious parts of a definition in steps. Also compares a tool with the tools of other servers. */
export type ScanEntry = (
  upstream: UpstreamName,
  subject: { readonly kind: string; readonly name: string; readonly definition: JsonObject },
) => Generator<undefined, ScanFindings>;

/** Creates a scanner that compares with `tools`. The inspection modules are loaded on first use, because most processes never scan. */
export async function createScanner(tools: readonly NamedTool[]): Promise<ScanEntry> {
  // Loading the modules takes as long as a few inspections, so it gets a turn of the event loop of its own.
  await nextTurn();
  const [{ inspectSteps }, { createCrossServerInspection }] = await Promise.all([
    import('./inspection/inspect-definition.ts'),
    import('./inspection/cross-server-inspection.ts'),
  ]);
  await nextTurn();
  const inspectAcrossServers = createCrossServerInspection(tools);
  return function* (upstream, { kind, name, definition }) {
    const findings = yield* inspectSteps(definition);
    return kind === 'tool'
      ? [...findings, ...inspectAcrossServers({ upstream, definition: { ...definition, name } })]
      : findings;
  };
}
