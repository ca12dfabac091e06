import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Finding } from './inspect/finding.ts';
import type { NamedTool } from './inspect/neighbours.ts';

/** What is suspicious about one definition, by itself and beside the tools of other servers. */
export type Scan = (
  upstream: UpstreamName,
  subject: { readonly kind: string; readonly name: string; readonly definition: JsonObject },
) => readonly Finding[];

/** The scanner is loaded when somebody wants to know. */
export async function scanner(tools: readonly NamedTool[]): Promise<Scan> {
  const [{ inspect }, { inspectBesideOthers }] = await Promise.all([
    import('./inspect/inspect.ts'),
    import('./inspect/neighbours.ts'),
  ]);
  const beside = inspectBesideOthers(tools);
  return (upstream, { kind, name, definition }) => [
    ...inspect(definition),
    ...(kind === 'tool' ? beside({ upstream, definition: { ...definition, name } }) : []),
  ];
}
