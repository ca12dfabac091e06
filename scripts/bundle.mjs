// Bundles src/main.ts, its launcher and its worker threads. Modules that are imported on demand become separate chunks.

import { existsSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

/**
 * Packages inside the bundle, because reading their files one by one takes longer than running them: zod alone has a hundred.
 * Packages with binaries (`libsql`) or optional parts (`pg`) are imported from node_modules.
 */
export const bundled = [
  'commander',
  'jsonc-parser',
  'kysely',
  'zod',
  'hono',
  '@hono/node-server',
  'jose',
  'smol-toml',
  'yaml',
  'quickjs-emscripten-core',
  '@jitl/quickjs-wasmfile-release-sync',
  '@jitl/quickjs-ffi-types',
  'sucrase',
  'lines-and-columns',
  'ts-interface-checker',
  '@jridgewell/gen-mapping',
  '@jridgewell/resolve-uri',
  '@jridgewell/sourcemap-codec',
  '@jridgewell/trace-mapping',
];

/** Modules that every command loads, and modules that `serve` loads before it answers a client. */
const START = ['src/cli/program.ts', 'src/cli/output.ts', 'src/cli/print/crash-line.ts'];
const GATEWAY = [
  'src/cli/commands/serve.ts',
  'src/cli/commands/serve-in-process.ts',
  'src/app/app.ts',
  'src/app/gateway-reloader.ts',
];
/** Modules that a listening gateway loads in addition. */
const LISTENING = {
  socket: [
    'src/cli/commands/serve-background.ts',
    'src/app/socket/open-socket.ts',
    'src/app/announce-gateway.ts',
  ],
  http: [
    'src/downstream/http/mcp-routes.ts',
    'src/downstream/http/listen.ts',
    'src/downstream/http/mcp-paths.ts',
    'src/app/open-http-auth.ts',
    'src/admin/sessions/operator-access.ts',
    'src/admin/admin-endpoint.ts',
    'src/app/open-session-persistence.ts',
    'src/admin/sessions/file-browser-sessions.ts',
    'src/admin/site/site-files.ts',
    'src/auth/downstream/authenticate.ts',
    'src/auth/downstream/protected-resource.ts',
  ],
};
/** Commands that run a gateway themselves instead of talking to one. */
const GATEWAYS = ['serve-in-process.ts', 'serve-background.ts', 'wrap.ts'];

/** Modules that a command imports on demand and that must not pull in the gateway, because shell completion waits for them. */
const LATER = ['src/app/read-cached-names.ts'];

/** Worker threads share no chunks with the main program, so a single file each starts fastest. */
const THREADS = {
  'code-worker': 'src/exposure/code/worker/worker.ts',
  'audit-worker': 'src/app/audit-worker.ts',
};

/** Returns the files of the program with their names in dist. */
export async function bundle({ root, manifest, build }) {
  const { rolldown } = await import('rolldown');
  const source = (name) => join(root, name);
  const generate = async (name, file, codeSplitting) => {
    const bundling = await rolldown({
      input: { [name]: source(file) },
      cwd: root,
      platform: 'node',
      plugins: [packages(manifest)],
      // The CommonJS form of jsonc-parser hides its imports from a bundler.
      resolve: { mainFields: ['module', 'main'] },
      transform: {
        target: 'node20',
        define: {
          __TRUNKLINE_VERSION__: JSON.stringify(manifest.version),
          __TRUNKLINE_BUILD__: JSON.stringify(build),
        },
      },
      preserveEntrySignatures: 'allow-extension',
    });
    const { output } = await bundling.generate({
      // Compiled code can be cached only for CommonJS; see src/app/launch.
      format: 'cjs',
      strict: true,
      // Only a module that Node itself has loaded can use Node's `import`.
      dynamicImportInCjs: name === 'main',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      comments: false,
      banner: ({ isEntry }) => (isEntry && name === 'main' ? '#!/usr/bin/env node' : ''),
      codeSplitting,
    });
    return output.map(({ fileName, code }) => [fileName, inAscii(code)]);
  };
  const bundles = [
    generate('program', 'src/main.ts', { groups: [togetherAtStart(root)] }),
    generate('main', 'src/app/launch/launch.ts', false),
    ...Object.entries(THREADS).map(([name, file]) => generate(name, file, false)),
  ];
  return [...(await Promise.all(bundles)).flat(), ['package.json', '{ "type": "commonjs" }\n']];
}

/**
 * Groups modules into few chunks. By default, a bundler creates a chunk for every set of commands that share a module: `serve`
 * would load seventy small files before it can answer, which costs more than running them. The chunks are: modules of every
 * command, modules of the gateway alone, modules that the gateway shares with a command (so that no command loads the gateway
 * for a small helper), and modules of a listening gateway.
 */
function togetherAtStart(root) {
  const all = readdirSync(join(root, 'src/cli/commands'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test)\.ts$/.test(name) && !GATEWAYS.includes(name))
    .map((name) => `src/cli/commands/${name}`);
  const commands = all.filter((name) => !/^src\/cli\/commands\/.*\//.test(name));
  const missing = [START, GATEWAY, LATER, ...Object.values(LISTENING)]
    .flat()
    .filter((name) => !existsSync(join(root, name)));
  if (missing.length > 0)
    throw new Error(`scripts/bundle.mjs names files that do not exist: ${missing.join(', ')}`);
  let closures;
  return {
    debugName: 'together at the start',
    includeDependenciesRecursively: false,
    name(id, context) {
      const closure = (names) => {
        const reached = new Set(names.map((name) => join(root, name)));
        for (const each of reached)
          for (const imported of context.getModuleInfo(each)?.importedIds ?? []) reached.add(imported);
        return reached;
      };
      closures ??= {
        start: closure(START),
        gateway: closure(GATEWAY),
        commands: closure([...commands, ...LATER]),
        all: closure(all),
        listening: Object.entries(LISTENING).map(([name, files]) => [name, closure(files)]),
      };
      if (closures.start.has(id)) return 'start';
      if (closures.gateway.has(id)) return closures.commands.has(id) ? 'common' : 'gateway';
      if (closures.all.has(id)) return null;
      return closures.listening.find(([, files]) => files.has(id))?.[0] ?? null;
    },
  };
}

/** Escapes non-ASCII characters, because a single one makes V8 store the whole text with two bytes per character. None is in a `String.raw`. */
function inAscii(code) {
  return code.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Keeps other packages out of the bundle and checks that they are in "dependencies". */
function packages({ dependencies }) {
  return {
    name: 'packages',
    resolveId(path, importer, { isEntry }) {
      if (isEntry || !/^[^./]/.test(path)) return null;
      if (isBuiltin(path)) return { id: path, external: true };
      const name = path
        .split('/')
        .slice(0, path.startsWith('@') ? 2 : 1)
        .join('/');
      if (bundled.includes(name)) return null;
      if (name in dependencies) return { id: path, external: true };
      throw new Error(
        `${importer} imports "${name}", which is not in "dependencies" of package.json. Add it there, or to the list of bundled packages.`,
      );
    },
  };
}
