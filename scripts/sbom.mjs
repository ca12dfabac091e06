// npm run sbom: prints a CycloneDX SBOM of everything that the package contains. `npm sbom --omit dev` would leave out the
// development dependencies that the build bundles into dist/.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { dashboardPackages } from './build.mjs';
import { bundled } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));

const bundledRefs = readBundledRefs();
const { metadata, components, dependencies, ...rest } = runNpmSbom();
const shipped = components.filter(isShipped).map(markAsShipped);
const refs = new Set([metadata.component['bom-ref'], ...shipped.map((component) => component['bom-ref'])]);
const sbom = {
  ...rest,
  // npm would use the name of the folder.
  metadata: { ...metadata, component: { ...metadata.component, name: readJson('package.json').name } },
  components: shipped,
  dependencies: dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
};
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);

function readBundledRefs() {
  const { packages } = readJson('package-lock.json');
  const names = [...bundled, ...dashboardPackages];
  return new Set(names.map((name) => `${name}@${packages[`node_modules/${name}`].version}`));
}

/** Reads the lockfile rather than node_modules, which lacks the binaries of other platforms. */
function runNpmSbom() {
  const { status, stdout, error } = spawnSync(
    'npm',
    ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'inherit'],
      shell: process.platform === 'win32',
    },
  );
  if (status !== 0) throw new Error(`npm sbom failed: ${error?.message ?? `exit code ${status}`}`);
  return JSON.parse(stdout);
}

function isShipped(component) {
  return !component.properties.some(isDevelopmentMark) || bundledRefs.has(component['bom-ref']);
}

function markAsShipped({ scope, properties, ...component }) {
  return {
    ...component,
    scope: bundledRefs.has(component['bom-ref']) ? 'required' : scope,
    properties: properties.filter((property) => !isDevelopmentMark(property)),
  };
}

function isDevelopmentMark({ name }) {
  return name === 'cdx:npm:package:development';
}
