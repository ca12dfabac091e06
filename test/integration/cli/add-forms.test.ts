import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import type { CommandOptions } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal, visibleText } from '../../support/terminal.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { createZip } from '../../support/zip.ts';
import type { ZipFile } from '../../support/zip.ts';

checkLeaks();

const plain = fixture('plain');
const url = 'https://x.example/mcp';
const vscodeEntry = {
  name: 'vs',
  command: 'uvx',
  args: ['some'],
  env: { TOKEN: '${input:tok}' },
  inputs: [{ id: 'tok', description: 'Token' }],
};
const cursorConfig = Buffer.from('{"command":"npx -y some"}').toString('base64');

function newHome() {
  const home = commandHome();
  const cwd = temporaryFolder('work');
  return {
    ...home,
    cwd,
    add: (words: readonly string[], options: CommandOptions = {}) =>
      home.run(['add', ...words], { cwd, ...options }),
    servers: () =>
      (JSON.parse(readFileSync(home.configFile, 'utf8')) as { mcpServers: Record<string, object> })
        .mcpServers,
  };
}

describe('forms of add', () => {
  test.each<{ words: readonly string[]; is: Readonly<Record<string, object>>; input?: string }>([
    { words: ['x', url], is: { x: { url } } },
    {
      words: ['x', 'npx', '-y', 'some', '--json'],
      is: { x: { command: 'npx', args: ['-y', 'some', '--json'] } },
    },
    { words: ['x', 'npx -y some'], is: { x: { command: 'npx', args: ['-y', 'some'] } } },
    { words: ['-t', 'sse', 'x', url], is: { x: { type: 'sse', url } } },
    {
      words: ['x', url, '-H', 'X-A: b', '--transport', 'http'],
      is: { x: { type: 'http', url, headers: { 'X-A': 'b' } } },
    },
    {
      words: ['x', '-e', 'A=1', '--', 'some', '-e', 'B=2'],
      is: { x: { command: 'some', args: ['-e', 'B=2'], env: { A: '1' } } },
    },
    { words: ['x', 'A=1', 'some'], is: { x: { command: 'some', env: { A: '1' } } } },
    {
      words: ['x', 'docker', 'run', '-e', 'A=1', 'image'],
      is: { x: { command: 'docker', args: ['run', '-e', 'A=1', 'image'] } },
    },
    { words: ['--cli', '--', 'git'], is: { git: { command: 'git', cli: true } } },
    { words: ['--cli', 'g', '--', 'git', 'log'], is: { g: { command: 'git', args: ['log'], cli: true } } },
    {
      words: ['claude', 'mcp', 'add', '--transport', 'http', 'x', url, '--header', 'X-A: b'],
      is: { x: { type: 'http', url, headers: { 'X-A': 'b' } } },
    },
    {
      words: ['claude mcp add x -s user -e A=1 \\\n -- npx -y some'],
      is: { x: { command: 'npx', args: ['-y', 'some'], env: { A: '1' } } },
    },
    {
      words: ['codex', 'mcp', 'add', 'x', '--env', 'A=1', '--', 'npx', 'some'],
      is: { x: { command: 'npx', args: ['some'], env: { A: '1' } } },
    },
    {
      words: ['codex', 'mcp', 'add', 'x', '--url', url, '--bearer-token-env-var', 'TOKEN'],
      is: { x: { url, headers: { Authorization: 'Bearer ${env:TOKEN}' } } },
    },
    { words: ['claude', 'mcp', 'add-json', 'x', '{"command":"some"}'], is: { x: { command: 'some' } } },
    {
      words: ['code', '--add-mcp', JSON.stringify(vscodeEntry)],
      is: { vs: { command: 'uvx', args: ['some'], env: { TOKEN: '${secret:TOK}' } } },
    },
    {
      words: ['-'],
      input: '[mcp_servers.c]\ncommand = "some"\nstartup_timeout_sec = 20\n',
      is: { c: { command: 'some', timeouts: { connect: '20000ms' } } },
    },
    { words: [], input: '"context_servers": { "z": { "command": "some" } }', is: { z: { command: 'some' } } },
    { words: ['x', '-'], input: '{"servers":{"y":{"command":"some"}}}', is: { x: { command: 'some' } } },
    {
      words: ['{"mcpServers":{"a":{"command":"some"},"b":{"url":"https://x.example/mcp"}}}'],
      is: { a: { command: 'some' }, b: { url } },
    },
    {
      words: [`cursor://anysphere.cursor-deeplink/mcp/install?name=cur&config=${cursorConfig}`],
      is: { cur: { command: 'npx', args: ['-y', 'some'] } },
    },
    {
      words: [`vscode:mcp/install?${encodeURIComponent(JSON.stringify(vscodeEntry))}`],
      is: { vs: { command: 'uvx', args: ['some'], env: { TOKEN: '${secret:TOK}' } } },
    },
  ])('add: understands $words', async ({ words, is, input = '' }) => {
    const home = newHome();
    const { code, stderr } = await home.add(['--trust', '--text', ...words], { input });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    expect(home.servers()).toEqual(is);
  });

  test.each<{ words: readonly string[]; says: readonly string[]; input?: string }>([
    { words: [url], says: ['trunkline add x https://x.example/mcp'] },
    { words: [url, 'x'], says: ['The name comes first', 'trunkline add x https://x.example/mcp'] },
    { words: ['npx', '-y', 'some'], says: ['trunkline add NAME -- npx -y some'] },
    { words: ['npx', 'some'], says: ['trunkline add NAME -- npx some', 'trunkline add npx -- some'] },
    {
      words: ['x', 'npx', 'some', '-e', 'TOKEN=hidden-value'],
      says: [
        'trunkline add NAME -e VARIABLE=VALUE -- npx …',
        'trunkline add NAME -- npx … -e VARIABLE=VALUE',
      ],
    },
    { words: ['x', 'mcp.x.example/mcp'], says: ['https://mcp.x.example/mcp', '-- mcp.x.example/mcp'] },
    { words: ['x', '--transport', 'http', 'npx', 'some'], says: ['For a URL', 'For the program'] },
    { words: ['x', '--transport', 'stdio', url], says: ['For the URL', 'For a program'] },
    { words: ['x', '{"a":{"command":"s"},"b":{"command":"t"}}'], says: ['leave out the name x'] },
    { words: ['-'], input: 'claude mcp add x -- y', says: ['trunkline add claude mcp add'] },
    { words: ['-'], input: '{"a":{"command":"s"', says: ['cannot be parsed'] },
    { words: [], says: ['The server is missing'] },
    { words: ['x', 'https://x.example/a.mcpb'], says: ['must be downloaded first'] },
    { words: ['nowhere.mcpb'], says: ['it does not exist'] },
    { words: ['cursor://anysphere.cursor-deeplink/mcp/install?config=x'], says: ['installation link'] },
    { words: ['{"a\\u001bb":{"command":"s"}}'], says: ['control characters'] },
    { words: ['--scope', 'user', '--config', 'x.jsonc', 'x', url], says: ['--scope and --config'] },
  ])('add: explains what to type instead of $words', async ({ words, says, input = '' }) => {
    const home = newHome();
    const { code, stderr } = await home.add(words, { input });
    expect(code).toBe(2);
    for (const text of says) expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/hidden-value|\u001b/);
    expect(home.servers()).toEqual({});
  });

  test('add: without a terminal, shows a pasted server with masked values and holds it', async () => {
    const home = newHome();
    const snippet = `{"mcpServers":{"x":{"command":"some","env":{"API_KEY":"abcdefghij"}}}}`;
    const { stdout, stderr } = await home.add(['--text'], { input: snippet });
    expect(stdout).toMatch(/new +x +standard input\n +x\n +command +some\n +env +API_KEY=•••\n/);
    expect(stdout + stderr).not.toContain('abcdefghij');
    expect(stderr).toContain('held for approval');
    expect(home.servers()).toMatchObject({ x: { trust: 'manual' } });
  });

  test('add: installs a server.json as from the registry', async () => {
    const home = newHome();
    const server = {
      name: 'io.github.someone/weather',
      description: 'Weather',
      version: '1.2.3',
      packages: [
        {
          registryType: 'npm',
          identifier: '@someone/weather',
          version: '1.2.3',
          transport: { type: 'stdio' },
          environmentVariables: [{ name: 'WEATHER_KEY', isRequired: true, isSecret: true }],
        },
      ],
    };
    writeFileSync(join(home.cwd, 'server.json'), JSON.stringify(server));
    const { stderr } = await home.add(['server.json', '--trust']);
    expect(stderr).toContain('WEATHER_KEY');
    expect(home.servers()).toEqual({
      weather: {
        command: 'npx',
        args: ['-y', '@someone/weather@1.2.3'],
        env: { WEATHER_KEY: '${env:WEATHER_KEY}' },
        description: 'Weather',
        registry: 'io.github.someone/weather',
      },
    });
    writeFileSync(join(home.cwd, 'other.json'), '{"mcpServers":{}}');
    expect((await home.add(['other.json'])).stderr).toContain('trunkline import --from other.json');
  });

  test('add --scope: writes the project or the own configuration, and says so', async () => {
    const home = newHome();
    const project = join(home.cwd, 'trunkline.jsonc');
    const first = await home.add(['x', url, '--scope', 'project', '--trust']);
    expect(first.stderr).toContain('trunkline trust');
    expect(readFileSync(project, 'utf8')).toContain('"x"');
    expect(home.servers()).toEqual({});
    const second = await home.add(['y', url, '-s', 'local', '--trust']);
    expect(second.stderr).toContain('has no scope "local"');
    expect(home.servers()).toEqual({ y: { url } });
  });
});

const manifest = {
  manifest_version: '0.3',
  name: 'Notes',
  version: '1.0.0',
  display_name: 'My notes',
  description: 'Reads notes',
  author: { name: 'Someone' },
  server: {
    type: 'node',
    entry_point: 'server/index.mjs',
    mcp_config: {
      command: 'node',
      args: ['${__dirname}/server/index.mjs', '--in', '${user_config.folders}', '${env:HOME}'],
      env: { NOTES_KEY: '${user_config.key}', NOTES_LEVEL: '${user_config.level}' },
    },
  },
  user_config: {
    key: { type: 'string', title: 'Key', sensitive: true, required: true },
    folders: { type: 'directory', title: 'Folders', multiple: true, required: true },
    level: { type: 'number', title: 'Level', default: 3 },
  },
};

/** The files of a bundle that starts the server of a fixture. */
function bundleFiles(version = '1.0.0'): readonly ZipFile[] {
  const script = pathToFileURL(plain.args[0] ?? '').href;
  return [
    { name: 'manifest.json', content: JSON.stringify({ ...manifest, version }) },
    { name: 'server/', content: '', mode: 0o040_755 },
    { name: 'server/index.mjs', content: `await import(${JSON.stringify(script)});\n` },
  ];
}

describe('bundles', () => {
  test(
    'bundle: is unpacked privately, works, is replaced by a newer version, and is deleted with its server',
    { tags: ['slow'] },
    async () => {
      const home = newHome();
      writeFileSync(join(home.cwd, 'notes.mcpb'), createZip(bundleFiles()));
      const set = ['--trust', '--set', 'folders=a', '--set', 'folders=b', '--text'];
      const { code, stdout, stderr } = await home.add(['notes.mcpb', ...set]);
      expect({ code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Added Notes to') as string,
      });
      expect(stderr).toContain('trunkline secret set NOTES_KEY');
      const bundles = join(home.home, 'state', 'bundles');
      const entry = home.servers()['Notes'] as { cwd: string; args: string[]; env: object };
      expect(entry.cwd.startsWith(bundles)).toBe(true);
      expect(entry.cwd).toMatch(/1\.0\.0$/);
      expect(entry).toMatchObject({
        command: 'node',
        // A reference of the bundle stays literal text.
        args: [
          join(entry.cwd, 'server/index.mjs'),
          '--in',
          join(home.cwd, 'a'),
          join(home.cwd, 'b'),
          '$${env:HOME}',
        ],
        env: { NOTES_KEY: '${secret:NOTES_KEY}', NOTES_LEVEL: '3' },
      });
      expect(statSync(entry.cwd).mode & 0o777).toBe(0o700);
      expect(statSync(join(entry.cwd, 'manifest.json')).mode & 0o777).toBe(0o600);
      await home.run(['secret', 'set', 'NOTES_KEY'], { input: 'a-key' });
      expect((await home.run(['call', 'Notes', 'echo', 'text=there', '--text'])).stdout).toBe('there\n');

      writeFileSync(join(home.cwd, 'notes.mcpb'), createZip(bundleFiles('1.1.0')));
      expect((await home.add(['notes.mcpb', ...set])).stderr).toContain('or add --replace');
      expect((await home.add(['notes.mcpb', ...set, '--replace'])).code).toBe(0);
      const newer = home.servers()['Notes'] as { cwd: string; env: object };
      expect(newer).toMatchObject({ env: { NOTES_KEY: '${secret:NOTES_KEY}' } });
      expect([existsSync(entry.cwd), existsSync(newer.cwd)]).toEqual([false, true]);
      expect((await home.run(['remove', 'Notes'])).code).toBe(0);
      expect(existsSync(newer.cwd)).toBe(false);
    },
  );

  test('bundle: names the settings that are missing without a terminal', async () => {
    const home = newHome();
    writeFileSync(join(home.cwd, 'notes.mcpb'), createZip(bundleFiles()));
    const missing = await home.add(['notes.mcpb']);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--set folders=VALUE')]);
    const wrong = await home.add(['notes.mcpb', '--set', 'level=high', '--set', 'folders=a']);
    expect(wrong.stderr).toContain('"level" must be a number');
    expect((await home.add(['notes.mcpb', '--set', 'nope=1'])).stderr).toContain(
      'It has: key, folders, level',
    );
    expect(existsSync(join(home.home, 'state', 'bundles'))).toBe(false);
  });

  const [manifestFile] = bundleFiles();
  const replaced = (change: object): ZipFile => ({
    name: 'manifest.json',
    content: JSON.stringify({ ...manifest, user_config: {}, ...change }),
  });
  const main: ZipFile = { name: 'server/index.mjs', content: '' };
  test.each<{ what: string; files: readonly ZipFile[]; says: string }>([
    {
      what: 'a path that leaves it',
      files: [...bundleFiles(), { name: '../evil', content: '' }],
      says: 'not inside',
    },
    {
      what: 'a path with .. inside',
      files: [...bundleFiles(), { name: 'a/../../evil', content: '' }],
      says: 'not inside',
    },
    {
      what: 'an absolute path',
      files: [...bundleFiles(), { name: '/tmp/evil', content: '' }],
      says: 'not inside',
    },
    {
      what: 'a path of Windows',
      files: [...bundleFiles(), { name: 'a\\..\\evil', content: '' }],
      says: 'not inside',
    },
    {
      what: 'a symbolic link',
      files: [...bundleFiles(), { name: 'l', content: '/etc', mode: 0o120_777 }],
      says: 'link',
    },
    {
      what: 'one file twice',
      files: [...bundleFiles(), { name: 'SERVER/index.mjs', content: '' }],
      says: 'twice',
    },
    {
      what: 'a stated size of gigabytes',
      files: [...bundleFiles(), { name: 'b', content: '', statedSize: 2 ** 31 }],
      says: 'unpacks to more',
    },
    {
      what: 'a file that is larger than stated',
      files: [...bundleFiles(), { name: 'b', content: '0'.repeat(10_000), statedSize: 1 }],
      says: 'damaged',
    },
    { what: 'no manifest', files: [main], says: 'no manifest.json' },
    { what: 'no entry point', files: [manifestFile!], says: 'does not contain its entry point' },
    {
      what: 'an entry point outside',
      files: [replaced({ server: { ...manifest.server, entry_point: '../x.mjs' } }), main],
      says: 'does not contain its entry point',
    },
    {
      what: 'another platform',
      files: [replaced({ compatibility: { platforms: ['beos'] } }), main],
      says: 'runs only on beos',
    },
  ])('bundle: is refused with $what, and nothing is left behind', async ({ files, says }) => {
    const home = newHome();
    writeFileSync(join(home.cwd, 'bad.mcpb'), createZip(files));
    const { code, stderr } = await home.add(['bad.mcpb', '--trust', '--set', 'folders=a']);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(home.servers()).toEqual({});
    const bundles = join(home.home, 'state', 'bundles');
    expect(existsSync(bundles) ? readdirSync(bundles) : []).toEqual([]);
    expect(existsSync(join(home.home, 'evil'))).toBe(false);
  });
});

describe('remove several servers', () => {
  const text =
    '{ "mcpServers": { "github": { "command": "x" }, "b": { "command": "y" }, "c": { "command": "z" } } }';

  test('remove: removes several servers', async () => {
    const home = newHome();
    writeFileSync(home.configFile, text);
    const { code, stdout } = await home.run(['remove', 'github', 'b', 'github', '--text']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Removed github from .*\nRemoved b from .*\n$/);
    expect(Object.keys(home.servers())).toEqual(['c']);
    writeFileSync(home.configFile, text);
    expect(await home.json(['remove', '--json', 'github', 'b'])).toMatchObject({ removed: ['github', 'b'] });
  });

  test('remove: removes none if one name is unknown, and offers the nearest', async () => {
    const home = newHome();
    writeFileSync(home.configFile, text);
    const { code, stderr } = await home.run(['remove', 'b', 'gihub']);
    expect(code).toBe(6);
    expect(stderr).toContain('There is no server "gihub". Did you mean github? Nothing was removed.');
    expect(readFileSync(home.configFile, 'utf8')).toBe(text);
  });
});

/** Waits for a question and answers it. */
const answer = (question: string, reply: string): readonly string[] => [
  `expect {\n "${question}" {}\n timeout { exit 99 }\n eof { exit 98 }\n}`,
  `send "${reply}\\r"`,
];

describe('add at a terminal', { tags: ['expect'] }, () => {
  test('add: shows a pasted server before it asks, and obeys the answer', async () => {
    const home = newHome();
    const snippet = JSON.stringify({
      mcpServers: { x: { ...plain, env: { ...plain.env, API_KEY: 'abcdefghij' } } },
    });
    const refused = await runInTerminal(home, ['add', snippet], { script: answer('Add x to', 'n') });
    expect(refused.code).toBe(0);
    expect(visibleText(refused.screen)).toMatch(
      /command +\S[^]*API_KEY=•••[^]*Add x to[^]*Nothing was added/,
    );
    expect(home.servers()).toEqual({});
    const script = [...answer('Add x to', 'y'), ...answer('in plain text', '')];
    const { code, screen } = await runInTerminal(home, ['add', snippet], { script });
    expect(code).toBe(0);
    expect(screen).toContain('x has 18 tools');
    expect(home.servers()['x']).toMatchObject({ env: { API_KEY: '${secret:API_KEY}' } });
  });

  test('add --cli: asks for the folder', async () => {
    const home = newHome();
    const folder = join(home.cwd, 'repo');
    mkdirSync(folder);
    const script = [
      ...answer('In which folder should git run', '/nowhere'),
      ...answer('is not a folder', folder),
    ];
    const { screen } = await runInTerminal(home, ['add', '--cli', '--', 'git'], { script });
    expect(screen).toContain('/nowhere is not a folder');
    expect(home.servers()).toEqual({ git: { command: 'git', cli: true, cwd: folder } });
  });

  test(
    'bundle: asks for its settings, and stores a sensitive value without showing it',
    { tags: ['slow'] },
    async () => {
      const home = newHome();
      const file = join(home.cwd, 'notes.mcpb');
      writeFileSync(file, createZip(bundleFiles()));
      const script = [
        'expect "It is not shown"',
        String.raw`send "hidden-value\r"`,
        ...answer('Folders', ''),
        ...answer('Folders', '/tmp, /var'),
        ...answer('Level', ''),
        ...answer('Add Notes to', 'y'),
      ];
      const { code, screen } = await runInTerminal(home, ['add', file], { script });
      expect(code).toBe(0);
      const text = visibleText(screen);
      expect(text).toMatch(/My notes 1\.0\.0 by Someone\nReads notes/);
      expect(text).toContain('Stored NOTES_KEY in');
      expect(text).toContain('Notes has 18 tools');
      expect(screen).not.toContain('hidden-value');
      expect(home.servers()['Notes']).toMatchObject({
        env: { NOTES_KEY: '${secret:NOTES_KEY}', NOTES_LEVEL: '3' },
      });
    },
  );
});
