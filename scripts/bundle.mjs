// Bundles src/main.ts, what loads it, and the threads it starts. What is imported when needed becomes a chunk of its own.

import { readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';

/**
 * Inside the bundle, since reading their files one by one takes longer than running them: zod alone has a hundred. What has
 * programs of its own (`libsql`) or looks for others (`pg`) is imported from node_modules.
 */
export const bundled = [
  ...['commander', 'jsonc-parser', 'kysely', 'zod', 'hono', '@hono/node-server', 'jose', 'smol-toml', 'yaml'],
  ...['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'require-from-string'],
  // Of scripts, in a file that only their thread loads; sucrase would install a command line that nobody wants.
  ...['quickjs-emscripten-core', '@jitl/quickjs-wasmfile-release-sync', '@jitl/quickjs-ffi-types'],
  ...['sucrase', 'lines-and-columns', 'ts-interface-checker', '@jridgewell/gen-mapping'],
  ...['@jridgewell/resolve-uri', '@jridgewell/sourcemap-codec', '@jridgewell/trace-mapping'],
];

/** What every command loads, and what `serve` loads before it answers a client. */
const START = ['cli/program.ts', 'cli/output.ts', 'cli/print/crash-line.ts'];
const GATEWAY = ['cli/commands/serve.ts', 'cli/commands/serve-here.ts', 'app/app.ts', 'app/reloading.ts'];
/** What a gateway that listens loads beside that. */
const LISTENING = {
  socket: ['cli/commands/serve-background.ts', 'app/socket/open-socket.ts', 'app/announce.ts'],
  http: [
    ...['downstream/http.ts', 'downstream/listen.ts', 'downstream/single-server.ts'],
    ...['app/callers/http-door.ts', 'app/callers/operator-access.ts', 'app/callers/admin-door.ts'],
    ...['app/sessions/open-session-keeping.ts', 'admin/sessions/browser-sessions.ts'],
    ...['admin/site/site-files.ts', 'auth/downstream/authenticate.ts'],
    'auth/downstream/protected-resource.ts',
  ],
};
/** Commands that are a gateway themselves, rather than asking one. */
const GATEWAYS = ['serve-here.ts', 'serve-background.ts', 'wrap.ts'];

/** What a command imports when it needs it, and which is no reason to load a gateway: shells wait for it. */
const LATER = ['app/cached-names.ts'];

/** Threads have no program around them whose chunks they could share: one file each starts soonest. */
const THREADS = {
  'code-worker': 'exposure/code/worker/worker.ts',
  'audit-worker': 'app/audit-worker.ts',
};

/** The files of the program by their names in dist. */
export async function bundle({ root, manifest, build }) {
  const { rolldown } = await import('rolldown');
  const source = (name) => join(root, 'src', name);
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
      // Of CommonJS an earlier start can keep what was compiled; see src/launch.
      format: 'cjs',
      strict: true,
      // Only what Node has loaded itself can use its `import`.
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
    generate('program', 'main.ts', { groups: [togetherAtStart(root)] }),
    generate('main', 'launch/launch.ts', false),
    ...Object.entries(THREADS).map(([name, file]) => generate(name, file, false)),
  ];
  return [...(await Promise.all(bundles)).flat(), ['package.json', '{ "type": "commonjs" }\n']];
}

/**
 * Left to itself, a bundler makes a chunk for every set of commands that share something: seventy small files before `serve`
 * can answer, which cost more than what is in them. These are few: of every command, of the gateway alone, of the gateway and
 * some command, so that no command loads the gateway for a trifle, and of a gateway that listens.
 */
function togetherAtStart(root) {
  const all = readdirSync(join(root, 'src/cli/commands'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test)\.ts$/.test(name) && !GATEWAYS.includes(name))
    .map((name) => `cli/commands/${name}`);
  const commands = all.filter((name) => !/^cli\/commands\/.*\//.test(name));
  let closures;
  return {
    debugName: 'together at the start',
    includeDependenciesRecursively: false,
    name(id, context) {
      const closure = (names) => {
        const reached = new Set(names.map((name) => join(root, 'src', name)));
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

/** A character of another kind would make V8 keep the whole text with two bytes for each; none of ours is in `String.raw`. */
function inAscii(code) {
  return code.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Packages stay outside, and have to be among those that are installed with the program. */
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
      throw new Error(`"${name}" is not in "dependencies"; ${importer} imports it`);
    },
  };
}
