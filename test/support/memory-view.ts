import type { CatalogView } from '../../src/gateway/catalog-view.ts';
import { inferTier } from '../../src/policy/tool-tiers.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../src/core/ids.ts';

/** Returns a new view of one server with these tools. */
export function memoryView(
  tools: readonly string[] = ['read'],
  parts: Partial<CatalogView> = {},
): CatalogView {
  const upstream = 'files' as UpstreamName;
  const fingerprint = 'x' as Fingerprint;
  const view: CatalogView = {
    digests: { tools: fingerprint, prompts: fingerprint, resources: fingerprint },
    tools: tools.map((name) => ({
      kind: 'tool',
      upstream,
      fingerprint,
      name: `files__${name}` as ExposedName,
      definition: { description: `Can ${name}.`, name, inputSchema: { type: 'object' }, extra: 1 },
    })),
    prompts: [
      {
        kind: 'prompt',
        upstream,
        fingerprint,
        name: 'files__greet' as ExposedName,
        definition: { name: 'greet', extra: 2 },
      },
    ],
    resources: [
      {
        kind: 'resource',
        upstream,
        fingerprint,
        uri: 'files+file:a',
        definition: { uri: 'file:a', name: 'A', extra: 3 },
      },
    ],
    templates: [
      {
        kind: 'template',
        upstream,
        fingerprint,
        uriTemplate: 'files+file:{x}',
        definition: { uriTemplate: 'file:{x}', name: 'X', extra: 4 },
      },
    ],
    servers: [{ name: upstream }],
    unavailableReason: () => undefined,
    tool: (name) => view.tools.find((entry) => entry.name === name),
    exposedUri: (_upstream, own) => own,
    mayAlwaysLoad: () => false,
    tier: ({ definition }) => inferTier(definition),
    configuredSelect: () => undefined,
    search: () => Promise.resolve([]),
    ...parts,
  };
  return view;
}
