// The search of the product inside this process: bundled from source, fed with an evaluation set as `eval.mjs --mcp` feeds it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build } from 'rolldown';

import { wireNames } from './shared/names.mjs';

/** The exports of a file in src. */
export async function bundleSource(file) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-search-'));
  const outfile = join(folder, 'bundle.mjs');
  try {
    await build({
      input: fileURLToPath(new URL(`../../src/${file}`, import.meta.url)),
      platform: 'node',
      transform: { target: 'node20' },
      output: { file: outfile, codeSplitting: false },
      logLevel: 'silent',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tools of a set under the names that they have behind the gateway, and the way back from those names. */
export function sourceOf(tools) {
  const wire = wireNames(tools);
  const upstreams = new Map();
  const entries = [];
  const ids = new Map();
  for (const { server, name, description, inputSchema } of tools) {
    const id = `${server}/${name}`;
    const wired = wire.get(id);
    const exposed = `${wired.server}__${wired.name}`;
    upstreams.set(wired.server, {
      facts: {
        era: 'legacy',
        protocol: '2025-06-18',
        info: { name: server, version: '1.0.0' },
        capabilities: {},
      },
    });
    ids.set(exposed, id);
    entries.push({
      kind: 'tool',
      upstream: wired.server,
      name: exposed,
      fingerprint: id,
      definition: { name: wired.name, description, inputSchema: { ...inputSchema, type: 'object' } },
    });
  }
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  return { source: { tools: new Map(entries.map((entry) => [entry.name, entry])), upstreams }, ids };
}

export function readSet(name) {
  return JSON.parse(readFileSync(new URL(`shared/${name}.dev.json`, import.meta.url), 'utf8'));
}
