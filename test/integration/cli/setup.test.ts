import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';

import { type CommandHome, commandHome } from '../../support/command.ts';
import { findConfigDrafts } from '../../support/config-drafts.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

/** A user's home with only the given files, and an empty configuration of Trunkline. */
function newHome(files: Readonly<Record<string, string>> = {}) {
  const home = commandHome();
  const folder = temporaryFolder('person');
  const env = { HOME: folder, XDG_CONFIG_HOME: undefined, APPDATA: undefined };
  for (const [path, text] of Object.entries(files)) write(join(folder, path), text);
  const run: CommandHome['run'] = (args, options = {}) =>
    home.run(args, { cwd: temporaryFolder('work'), ...options, env: { ...env, ...options.env } });
  return { ...home, run, folder, config: () => readFileSync(home.configFile, 'utf8') };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const secret = `ghp_${'a1B2'.repeat(9)}`;

describe('add', () => {
  test('add: creates a commented config file that only its owner can read', async () => {
    const home = temporaryFolder('new');
    const { code, stdout, stderr } = await commandHome().run(
      ['add', 'files', '--text', '--', 'npx', '-y', 'server', '--flag'],
      {
        env: { TRUNKLINE_HOME: join(home, 'deep') },
      },
    );
    const file = join(home, 'deep', 'config.jsonc');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Added files to ${file}\n` });
    expect(stderr).toContain(`Created the configuration ${file}`);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^\/\/ Trunkline configuration[^]*"args": \["-y", "server", "--flag"\]/,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  });

  test('add: keeps comments and formatting, and the server works at once', async () => {
    const home = newHome();
    const { command, args } = fixture('plain');
    writeFileSync(home.configFile, '// mine\n{ "mcpServers": {\n\t"a" : {"command":"x"} // odd\n}}');
    expect((await home.run(['add', 'plain', '--trust', '--', command, ...args])).code).toBe(0);
    expect(home.config()).toMatch(
      /^\/\/ mine\n\{ "mcpServers": \{\n\t"a" : \{"command":"x"\}, \/\/ odd\n\t"plain": \{/,
    );
    expect((await home.run(['call', 'plain', 'echo', 'text=there', '--text'])).stdout).toBe('there\n');
  });

  test.each([
    { words: ['--url', 'https://x.example/mcp'], is: { url: 'https://x.example/mcp' } },
    { words: ['--cli', 'git -C /repo'], is: { command: 'git', args: ['-C', '/repo'], cli: true } },
    { words: ['--sse', 'https://x.example/sse'], is: { type: 'sse', url: 'https://x.example/sse' } },
    {
      words: ['--url', 'https://x.example/mcp', '--header', 'X-A=b', '--header', 'X-C: d', '--tag', 'w'],
      is: { url: 'https://x.example/mcp', headers: { 'X-A': 'b', 'X-C': 'd' }, tags: ['w'] },
    },
    {
      words: ['--env', 'A=b=c', '--env', 'K=${env:K}', '--', 'x'],
      is: { command: 'x', env: { A: 'b=c', K: '${env:K}' } },
    },
  ])('add: writes a config entry for $words', async ({ words, is }) => {
    const home = newHome();
    expect(JSON.parse((await home.run(['add', 'x', '--trust', ...words])).stdout)).toMatchObject({
      added: 'x',
      keptIn: 'file',
      trust: 'first-sight',
    });
    expect(JSON.parse(home.config())).toEqual({ mcpServers: { x: is } });
  });

  test('add: a program with a relative path works from any folder later', async () => {
    const home = newHome();
    const cwd = temporaryFolder('project');
    const server = fixture('plain');
    write(join(cwd, 'srv', 'start.sh'), `exec '${[server.command, ...server.args].join("' '")}'\n`);
    const words = ['add', 'plain', '--trust', '--text', '--', 'sh', 'srv/start.sh'];
    const { stderr } = await home.run(words, { cwd });
    expect(stderr).toContain(`The server will be started in ${cwd}, because srv/start.sh is there`);
    expect(JSON.parse(home.config())).toEqual({
      mcpServers: { plain: { command: 'sh', args: ['srv/start.sh'], cwd } },
    });
    expect((await home.run(['call', 'plain', 'echo', 'text=there', '--text'])).stdout).toBe('there\n');
  });

  test('add: without a terminal, holds the server for approval', async () => {
    const home = newHome();
    const { stderr } = await home.run(['add', 'x', '--url', 'https://x.example/mcp']);
    expect(stderr).toContain('held for approval');
    expect(home.config()).toContain('"trust": "manual"');
  });

  test.each([
    {
      words: ['--', 'no-such-program-of-ours'],
      code: 'UPSTREAM_REFUSED',
      says: 'no-such-program-of-ours',
    },
    { words: ['--env', 'A=${env:NOT_SET_HERE}', '--', 'node'], code: 'SECRET_MISSING', says: 'NOT_SET_HERE' },
  ])('add: without a terminal, reports known problems of $words', async ({ words, code, says }) => {
    const { stdout, stderr, code: exit } = await newHome().run(['add', 'b d', '--trust', ...words]);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      added: 'b d',
      problem: { code, message: expect.stringContaining(says) as string },
    });
    expect(stderr).toMatch(new RegExp(`${says}[^]*trunkline refresh 'b d'`));
  });

  test.each([
    { place: 'env', text: 'Bearer ${env:X_TOKEN}' },
    { place: 'file', text: 'Bearer ${file:secrets/X_TOKEN}' },
    { place: 'keep', text: `Bearer ${secret}` },
  ])(
    'add: reports plain-text secrets without printing them, with --references $place',
    async ({ place, text }) => {
      const home = newHome();
      const words = [
        'add',
        'x',
        '--url',
        'https://x.example/mcp',
        '--header',
        `Authorization: Bearer ${secret}`,
        '--references',
        place,
      ];
      const { stdout, stderr } = await home.run(words);
      expect(stderr).toContain('x: headers.Authorization holds a secret in plain text');
      expect(stdout + stderr).not.toContain(secret);
      expect(JSON.parse(home.config())).toMatchObject({
        mcpServers: { x: { headers: { Authorization: text } } },
      });
      const file = join(home.home, 'secrets', 'X_TOKEN');
      expect(existsSync(file)).toBe(place === 'file');
      if (place === 'env') expect(stderr).toContain('  export X_TOKEN=…\n');
      if (place === 'file')
        expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([secret, 0o600]);
    },
  );

  test.each([
    { words: ['x'], code: 2, says: 'The server is missing' },
    { words: ['x', '--url', 'u', '--', 'y'], code: 2, says: 'The server is given more than once' },
    { words: ['--url', 'https://x.example'], code: 2, says: 'Missing argument: name' },
    { words: ['x', '--'], code: 2, says: 'A command must follow --' },
    { words: ['x', '--url', 'nonsense'], code: 2, says: 'cannot be added: "url"' },
    { words: ['x', '--env', 'A', '--', 'y'], code: 2, says: '--env needs a name and a value' },
    { words: ['x', '--header', 'A=b', '--', 'y'], code: 2, says: '--header requires a server at a URL' },
    { words: ['x\u0001', '--url', 'https://x.example'], code: 2, says: 'control characters' },
    { words: ['taken', '--url', 'https://x.example'], code: 2, says: '--replace' },
  ])('add: rejects $words and changes nothing', async ({ words, code, says }) => {
    const home = newHome();
    const before = '{ "mcpServers": { "taken": { "command": "x" } } }';
    writeFileSync(home.configFile, before);
    const result = await home.run(['add', ...words]);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(says);
    expect(home.config()).toBe(before);
  });

  test('add: does not touch a broken config file', async () => {
    const home = newHome();
    writeFileSync(home.configFile, '{ oops');
    const { code, stderr } = await home.run(['add', 'x', '--url', 'https://x.example']);
    expect([code, home.config()]).toEqual([3, '{ oops']);
    expect(stderr).toContain('trunkline edit');
  });

  test.each([
    { where: 'on an existing file', env: {} },
    { where: 'on a new file', env: { TRUNKLINE_CONFIG: 'new.jsonc' } },
  ])('add: concurrent runs $where all succeed', { tags: ['slow'] }, async ({ env }) => {
    const home = newHome();
    const cwd = temporaryFolder('work');
    const all = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((at) =>
        home.run(['add', `s${at}`, '--url', `https://${at}.example/mcp`], { env, cwd }),
      ),
    );
    expect(all.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(all.map(() => ''));
    const servers = (await home.run(['servers', '--json'], { env, cwd })).stdout;
    expect((JSON.parse(servers) as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(
      all.map((_, at) => `s${at}`),
    );
  });

  test('add: of concurrent runs with the same name, exactly one succeeds', async () => {
    const home = newHome();
    const all = await Promise.all(
      [0, 1, 2].map((at) => home.run(['add', 'same', '--url', `https://${at}.example/mcp`])),
    );
    expect(all.filter(({ code }) => code === 0)).toHaveLength(1);
    for (const { code, stderr } of all)
      if (code !== 0) expect(stderr).toMatch(/\[REVISION_CONFLICT\]|or add --replace\. \[USAGE\]/);
  });

  test('add: keeps a trusted project config trusted, and rejects an untrusted one', async () => {
    const home = newHome();
    const cwd = temporaryFolder('project');
    write(join(cwd, 'trunkline.jsonc'), '{ "mcpServers": {} }');
    expect((await home.run(['add', 'x', '--url', 'https://x.example'], { cwd })).code).toBe(3);
    await home.run(['trust'], { cwd });
    expect((await home.run(['add', 'x', '--url', 'https://x.example'], { cwd })).code).toBe(0);
    expect((await home.run(['remove', 'x'], { cwd })).code).toBe(0);
  });
});

describe('remove, enable, disable', () => {
  const text =
    '{\n  "mcpServers": {\n    "a": { "command": "x" }, // a\n    "b": { "command": "y", "disabled": true }\n  }\n}\n';

  test('remove, enable, disable: change one entry and nothing else', { tags: ['slow'] }, async () => {
    const home = newHome();
    writeFileSync(home.configFile, text);
    expect((await home.run(['disable', 'a', '--text'])).stdout).toBe('a is now disabled\n');
    expect(home.config()).toBe(text.replace('"x" }', '"x", "enabled": false }'));
    expect((await home.run(['disable', 'a', '--text'])).stdout).toBe('a is already disabled\n');
    expect((await home.run(['enable', 'a', '--text'])).stdout).toBe('a is now enabled\n');
    expect(home.config()).toBe(text);
    expect((await home.run(['enable', 'b'])).code).toBe(0);
    expect(home.config()).toBe(text.replace(', "disabled": true', ''));
    expect(JSON.parse((await home.run(['remove', 'b'])).stdout)).toEqual({
      removed: 'b',
      config: home.configFile,
      keptIn: 'file',
    });
    expect(home.config()).toBe('{\n  "mcpServers": {\n    "a": { "command": "x" } // a\n  }\n}\n');
  });

  test.each(['remove', 'enable', 'disable'])(
    '%s: suggests similar names for an unknown server',
    async (command) => {
      const home = newHome();
      writeFileSync(home.configFile, '{ "mcpServers": { "github": { "command": "x" } } }');
      const { code, stderr } = await home.run([command, 'gihub']);
      expect(code).toBe(6);
      expect(stderr).toContain('Did you mean github?');
    },
  );
});

describe('edit', () => {
  test.each([
    { editor: 'sed -i s/old/new/', code: 0, after: 'new' },
    { editor: 'sed -i s/mcpServers/mcpServer/', code: 3, after: 'old' },
    { editor: 'false', code: 2, after: 'old' },
    { editor: 'no-such-editor', code: 2, after: 'old' },
    { editor: 'true', code: 0, after: 'old' },
  ])('edit: saves only a changed and valid draft, with editor $editor', async ({ editor, code, after }) => {
    const home = newHome();
    writeFileSync(home.configFile, '{ "mcpServers": { "a": { "command": "old" } } }');
    const { code: exit, stderr } = await home.run(['edit'], { env: { VISUAL: editor, EDITOR: 'false' } });
    expect([exit, home.config()]).toEqual([code, `{ "mcpServers": { "a": { "command": "${after}" } } }`]);
    const drafts = findConfigDrafts(home.home);
    expect(drafts).toHaveLength(code === 3 ? 1 : 0);
    const [draft] = drafts;
    if (draft === undefined) return;
    expect(stderr).toContain('did you mean "mcpServers"?');
    expect(stderr).toContain(`Your draft is in ${draft}`);
    expect([readFileSync(draft, 'utf8').includes('mcpServer"'), statSync(draft).mode & 0o777]).toEqual([
      true,
      0o600,
    ]);
    expect(
      (await home.run(['edit'], { env: { VISUAL: 'sed -i s/mcpServer/mcpServers/;s/old/new/' } })).code,
    ).toBe(0);
    expect([home.config().includes('new'), existsSync(draft)]).toEqual([true, false]);
  });

  test('edit: an old draft does not undo later changes of the file, and is kept', async () => {
    const home = newHome();
    const text = '{ "mcpServers": { "a": { "command": "old" } } }';
    writeFileSync(home.configFile, text);
    const breaks = { env: { VISUAL: 'sed -i s/mcpServers/mcpServer/' } };
    expect((await home.run(['edit'], breaks)).code).toBe(3);
    const [draft = ''] = findConfigDrafts(home.home);
    writeFileSync(home.configFile, text.replace('}', '}, "b": { "command": "other" }'));
    const { code, stderr } = await home.run(['edit'], { env: { VISUAL: 'sed -i s/old/new/' } });
    expect([code, [...home.config().matchAll(/"(\w)": \{/g)].map(([, name]) => name)]).toEqual([
      0,
      ['a', 'b'],
    ]);
    expect(home.config()).toContain('new');
    expect(stderr).toContain(`There is an older draft in ${draft}, which was started before`);
    expect(findConfigDrafts(home.home)).toEqual([draft]);
  });

  test('edit: keeps changes made to the file while the editor is open, and keeps the draft', async () => {
    const home = newHome();
    writeFileSync(home.configFile, '{ "mcpServers": { "a": { "command": "old" } } }');
    const other = '{ "mcpServers": { "b": { "command": "other" } } }';
    const editor = join(home.home, 'editor.sh');
    writeFileSync(
      editor,
      `#!/bin/sh\nsed -i s/old/new/ "$1"\nprintf '%s' '${other}' > '${home.configFile}'\n`,
    );
    chmodSync(editor, 0o700);
    const { code, stderr } = await home.run(['edit'], { env: { VISUAL: editor } });
    const [draft = ''] = findConfigDrafts(home.home);
    expect([code, home.config()]).toEqual([1, other]);
    expect(stderr).toContain(`Your draft is in ${draft}`);
    expect(readFileSync(draft, 'utf8')).toContain('new');
  });

  test('edit: fails without a terminal and an editor, and leaves no draft', async () => {
    const home = newHome();
    const { code, stderr } = await home.run(['edit'], { env: { VISUAL: undefined, EDITOR: undefined } });
    expect(code).toBe(2);
    expect(stderr).toContain('Set VISUAL or EDITOR');
    expect(findConfigDrafts(home.home)).toEqual([]);
  });

  test('edit: can repair a broken config file', async () => {
    const home = newHome();
    writeFileSync(home.configFile, '{ "mcpServers": { "a": { "command": "x" } ');
    expect((await home.run(['edit'], { env: { EDITOR: "sed -i '$s/$/}}/'", VISUAL: undefined } })).code).toBe(
      0,
    );
    expect((await home.run(['servers'])).code).toBe(0);
  });
});

describe('import', () => {
  const files = {
    '.config/Claude/claude_desktop_config.json': JSON.stringify({
      mcpServers: {
        github: { command: 'npx', args: ['-y', 'gh-mcp'], env: { GITHUB_TOKEN: secret } },
        trunkline: { command: 'trunkline', args: ['serve'] },
      },
    }),
    '.codex/config.toml':
      '[mcp_servers.docs]\nurl = "https://d.example/mcp"\n\n[mcp_servers.mine]\ncommand = "theirs"\n',
    '.cursor/mcp.json':
      '{ "mcpServers": { "odd": { "type": "ws", "url": "wss://x" }, "docs": { "url": "https://d.example/mcp" } } }',
    '.gemini/settings.json': '{ broken',
  };

  test('import: shows a plan, applies it, and changes nothing the second time', async () => {
    const home = newHome(files);
    writeFileSync(home.configFile, '{ "mcpServers": { "mine": { "command": "ours" } } } // end');
    const dry = await home.run(['import', '--dry-run']);
    const { plan, applied } = JSON.parse(dry.stdout) as {
      plan: { state: string; name: string; reason?: string }[];
      applied: boolean;
    };
    expect([dry.code, applied]).toEqual([0, false]);
    expect(plan.map(({ state, name, reason }) => [state, name, reason])).toEqual([
      ['new', 'github', undefined],
      ['own', 'trunkline', 'it is Trunkline itself'],
      ['unusable', 'odd', '"ws" is not a transport that Trunkline supports'],
      ['new', 'docs', undefined],
      ['same', 'docs', undefined],
      ['conflicting', 'mine', 'another server has this name'],
    ]);
    expect(dry.stderr).toContain('.gemini/settings.json cannot be read: line 1');
    const shown = await home.run(['import', '--dry-run', '--text']);
    expect(shown.stderr).toContain('github: env.GITHUB_TOKEN holds a secret in plain text');
    expect(shown.stdout + shown.stderr).not.toContain(secret);
    expect(home.config()).toBe('{ "mcpServers": { "mine": { "command": "ours" } } } // end');

    const asked = await home.run(['import']);
    expect([asked.code, asked.stderr.includes('Add --yes to add them')]).toEqual([2, true]);

    const done = await home.run(['import', '--yes', '--references', 'file', '--trust']);
    expect(done.code).toBe(0);
    expect(JSON.parse(home.config().replace('// end', ''))).toEqual({
      mcpServers: {
        mine: { command: 'ours' },
        github: {
          command: 'npx',
          args: ['-y', 'gh-mcp'],
          env: { GITHUB_TOKEN: '${file:secrets/GITHUB_TOKEN}' },
        },
        docs: { url: 'https://d.example/mcp' },
      },
    });
    expect(dry.stdout + dry.stderr + asked.stderr + done.stdout + done.stderr).not.toContain(secret);
    const after = home.config();
    expect((await home.run(['import', '--yes', '--text'])).stdout).toContain('There are no new servers.');
    expect(home.config()).toBe(after);
  });

  test('import: takes chosen servers from one client or a file, and renames conflicting ones', async () => {
    const home = newHome(files);
    writeFileSync(home.configFile, '{ "mcpServers": { "mine": { "command": "ours" } } }');
    await home.run(['import', '--yes', '--from', 'codex', '--only', 'mine', '--conflicts', 'rename']);
    expect(Object.keys((JSON.parse(home.config()) as { mcpServers: object }).mcpServers)).toEqual([
      'mine',
      'mine-codex',
    ]);
    const file = join(home.folder, 'any.json');
    writeFileSync(file, '{ "servers": { "v": { "command": "x" } } }');
    await home.run(['import', '--yes', '--from', file]);
    expect(home.config()).toContain('"v"');
  });

  test.each([
    { from: 'zedd', code: 2, says: 'Did you mean zed?' },
    { from: 'zed', code: 6, says: '.config/zed/settings.json' },
  ])('import: explains why it cannot import from $from', async ({ from, code, says }) => {
    const result = await newHome().run(['import', '--from', from]);
    expect([result.code, result.stderr.includes(says)]).toEqual([code, true]);
  });
});

describe('connect', () => {
  const text = '{\n  // mine\n  "mcpServers": {"plain": PLAIN},\n  "x": [1,2] }\n';
  const plain = fixture('plain');
  const before = text.replace('PLAIN', JSON.stringify(plain));

  test(
    'connect: moves the servers of a client behind Trunkline, and --undo restores the file exactly',
    { tags: ['slow'] },
    async () => {
      const home = newHome({ '.cursor/mcp.json': before });
      const file = join(home.folder, '.cursor', 'mcp.json');
      const shown = await home.run(['connect', 'cursor', '--dry-run', '--text']);
      const lines = shown.stdout.split('\n').map((line) => line.trim());
      expect(lines).toEqual([
        file,
        '+ trunkline',
        '- plain (moves to Trunkline)',
        'plain will be started or reached as:',
        expect.stringMatching(/^command +\S*node \S+plain\.mjs --run=•••$/),
        expect.stringMatching(/^env +FIXTURE_LOG=•••$/),
        '',
      ]);
      expect(readFileSync(file, 'utf8')).toBe(before);
      expect((await home.run(['connect', 'cursor'])).code).toBe(2);
      const done = JSON.parse((await home.run(['connect', 'cursor', '--yes', '--trust'])).stdout) as {
        backup: string;
      };
      expect(readFileSync(done.backup, 'utf8')).toBe(before);
      const after = readFileSync(file, 'utf8');
      expect(after).toMatch(/^\{\n {2}\/\/ mine\n[^]*"x": \[1,2\] \}\n$/);
      // The gateway that the client would start has the server behind it.
      const { mcpServers } = JSON.parse(after.replace('// mine', '')) as {
        mcpServers: { trunkline: { args: string[]; env: Record<string, string> } };
      };
      expect(Object.keys(mcpServers)).toEqual(['trunkline']);
      const [, ...serve] = mcpServers.trunkline.args;
      expect(serve).toEqual(['serve']);
      const call = await home.run(['call', 'plain', 'echo', 'text=moved', '--text'], {
        env: mcpServers.trunkline.env,
      });
      expect(call.stdout).toBe('moved\n');
      expect(fixtureLog(plain).of('started').length).toBeGreaterThan(0);

      const config = home.config();
      expect((await home.run(['connect', 'cursor', '--yes', '--text'])).stdout).toBe(
        'Cursor is already connected.\n',
      );
      expect([readFileSync(file, 'utf8'), home.config()]).toEqual([after, config]);
      expect((await home.run(['connect', 'cursor', '--undo'])).code).toBe(0);
      expect(readFileSync(file, 'utf8')).toBe(before);
      expect((await home.run(['connect', 'cursor', '--undo'])).code).toBe(6);
    },
  );

  test('connect: names held servers and the command that approves them', { tags: ['slow'] }, async () => {
    const home = newHome({ '.cursor/mcp.json': before });
    const done = await home.run(['connect', 'cursor', '--yes']);
    expect(JSON.parse(done.stdout)).toMatchObject({ moved: ['plain'], held: ['plain'] });
    expect(done.stderr).toContain('trunkline approvals accept plain --all');
    await home.run(['connect', 'cursor', '--undo']);
    // The server is already in the configuration, and still held.
    const again = await home.run(['connect', 'cursor', '--yes', '--text']);
    expect(again.stdout).toContain('! plain is already in Trunkline, but held for approval');
    expect(again.stderr).toContain(
      'plain is held for approval. Accept with:\n  trunkline approvals accept plain --all',
    );
    const imported = await home.run(['import', '--from', 'cursor']);
    expect([imported.code, imported.stderr]).toEqual([0, '']);
    write(join(home.folder, '.codeium/windsurf/mcp_config.json'), before);
    expect((await home.run(['import', '--from', 'windsurf'])).stderr).toContain('accept plain --all');
    expect(await home.run(['import', '--from', 'windsurf', '--only', 'plai'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(
        'No client on this machine has a server "plai". Did you mean plain?',
      ) as string,
    });
    const [, ...words] = 'trunkline approvals accept plain --all'.split(' ');
    expect((await home.run(words)).code).toBe(0);
    expect((await home.run(['call', 'plain', 'echo', 'text=on', '--text'])).stdout).toBe('on\n');
  });

  test('connect: --dry-run reports plain-text secrets and disabled servers', async () => {
    const secret = { ...plain, env: { API_KEY: 'abcdefghij' } };
    const home = newHome({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { secret, plain } }) });
    writeFileSync(home.configFile, JSON.stringify({ mcpServers: { plain: { ...plain, enabled: false } } }));
    const { stdout, stderr } = await home.run(['connect', 'cursor', '--dry-run', '--text']);
    expect(stderr).toContain(
      'secret: env.API_KEY holds a secret in plain text. To move it out, use --references',
    );
    expect(stdout).toContain(
      '! plain is already in Trunkline, but disabled. Enable it with: trunkline enable plain',
    );
    const { stdout: json } = await home.run(['connect', 'cursor', '--dry-run']);
    expect(JSON.parse(json)).toMatchObject({
      written: false,
      secrets: [{ server: 'secret', at: 'env.API_KEY', variable: 'API_KEY' }],
    });
    expect(stdout + stderr + json).not.toContain('abcdefghij');
  });

  test('connect: --undo refuses to discard later changes of the file, and --merge keeps them', async () => {
    const home = newHome({ '.cursor/mcp.json': before });
    const file = join(home.folder, '.cursor', 'mcp.json');
    await home.run(['connect', 'cursor', '--yes']);
    const changed = readFileSync(file, 'utf8').replace('[1,2]', '[3]');
    writeFileSync(file, changed);
    const refused = await home.run(['connect', 'cursor', '--undo']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('--undo --merge');
    expect(refused.stderr).toContain('.bak');
    expect(readFileSync(file, 'utf8')).toBe(changed);
    expect((await home.run(['connect', 'cursor', '--undo', '--merge'])).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8').replace('// mine', ''))).toEqual({
      mcpServers: { plain },
      x: [3],
    });
  });

  test('connect: hands over every variable that the configuration refers to, also those of moved secrets', async () => {
    const moved = '[mcp_servers.x]\ncommand = "x"\n\n[mcp_servers.x.env]\nX_TOKEN = "abcdefghij"\n';
    const home = newHome({ '.codex/config.toml': moved });
    writeFileSync(
      home.configFile,
      '{ "mcpServers": { "a": { "url": "https://a.example/mcp", "headers": { "K": "${env:A_TOKEN}" } } } }',
    );
    const { code } = await home.run(['connect', 'codex', '--yes', '--trust', '--references', 'env']);
    expect(code).toBe(0);
    const after = readFileSync(join(home.folder, '.codex/config.toml'), 'utf8');
    expect(/^env_vars = \[ (.*) \]$/m.exec(after)?.[1]).toMatch(/^"A_TOKEN", "X_TOKEN"/);
    expect(after).not.toContain('abcdefghij');
  });

  test('connect: says which settings of the moved servers were left out', async () => {
    const servers = { x: { command: 'x', trust: true, includeTools: ['a'] } };
    const home = newHome({ '.gemini/settings.json': JSON.stringify({ mcpServers: servers }) });
    const { stdout, stderr } = await home.run(['connect', 'gemini-cli', '--dry-run', '--text']);
    expect(stdout).toContain('tools    {"allow":["a"]}');
    expect(stderr).toMatch(/^x: "trust" was left out: /m);
    const json = await home.run(['connect', 'gemini-cli', '--dry-run']);
    expect(JSON.parse(json.stdout)).toMatchObject({ remarks: [{ name: 'x' }] });
    expect((await home.run(['import', '--dry-run', '--text'])).stderr).toMatch(/^x: "trust" was left out: /m);
  });

  test('connect: --split writes one entry per server, and --undo restores the file exactly', async () => {
    const home = newHome({ '.cursor/mcp.json': before });
    const file = join(home.folder, '.cursor', 'mcp.json');
    writeFileSync(
      home.configFile,
      '{ "http": { "address": "127.0.0.1:7444" }, "mcpServers": { "a b": { "command": "x" }, "off": { "command": "y", "enabled": false } } }',
    );
    const { stdout, stderr } = await home.run(['connect', 'cursor', '--split', '--yes', '--trust']);
    expect(JSON.parse(stdout)).toMatchObject({ entries: ['a-b', 'plain'], moved: ['plain'] });
    expect(stderr).toContain('trunkline serve --http');
    const after = readFileSync(file, 'utf8');
    expect(JSON.parse(after.replace('// mine', ''))).toEqual({
      mcpServers: {
        plain: { url: 'http://127.0.0.1:7444/mcp/s/plain' },
        'a-b': { url: 'http://127.0.0.1:7444/mcp/s/a%20b' },
      },
      x: [1, 2],
    });
    expect((await home.run(['connect', 'cursor', '--split', '--yes', '--text'])).stdout).toBe(
      'Cursor is already connected.\n',
    );
    expect((await home.run(['connect', 'cursor', '--undo'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(await home.run(['connect', 'claude-desktop', '--split'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Connect it without --split') as string,
    });
  });

  test('connect: creates a missing client config, and --undo removes it', async () => {
    const home = newHome();
    const file = join(home.folder, '.codex', 'config.toml');
    expect((await home.run(['connect', 'codex', '--yes'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/^\[mcp_servers\.trunkline\]\ncommand = /);
    expect((await home.run(['connect', 'codex', '--undo'])).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  test('connect: creates a missing client config where the client has its folder', async () => {
    const home = newHome();
    const folder = join(home.folder, '.cline', 'data', 'settings');
    mkdirSync(folder, { recursive: true });
    expect((await home.run(['connect', 'cline', '--yes'])).code).toBe(0);
    expect(readdirSync(folder)).toEqual(['cline_mcp_settings.json']);
  });

  test('connect: prints the entry to paste when a file cannot be edited', async () => {
    const home = newHome({ '.codex/config.toml': 'mcp_servers = { a = { command = "x" } }\n' });
    const { code, stderr } = await home.run(['connect', 'codex', '--yes']);
    expect(code).toBe(3);
    expect(stderr).toContain('Add this entry to the servers of');
    expect(stderr).toContain('cannot be edited safely');
    expect(readFileSync(join(home.folder, '.codex/config.toml'), 'utf8')).toContain('a = {');
    expect(JSON.parse((await home.run(['connect', 'other'])).stdout)).toMatchObject({
      mcpServers: { trunkline: {} },
    });
    expect((await home.run(['connect', 'cursr'])).stderr).toContain('Did you mean cursor?');
  });
});

test('config change: says that the running gateway applied it, and mentions none if none runs', async () => {
  await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
  const pipe = await home.pipe();
  await pipe.client();
  expect((await home.command('add', 'x', '--url', 'https://x.example/mcp')).stderr).toContain(
    'The running gateway has applied the change.',
  );
  await home.command('stop');
  expect((await home.command('remove', 'x')).stderr).not.toContain('gateway');
});

test('import plan: shows no value that may be a secret', async () => {
  const servers = {
    a: { command: 'npx', args: ['-y', 'pkg', '--key', 'hidden1'] },
    b: { command: 'x', args: ['--conn', 'hidden2'] },
    c: { url: 'https://me:hidden3@c.example/s/hidden4/mcp?k=hidden5', headers: { 'X-Y': 'hidden6' } },
  };
  const home = newHome({ '.cursor/mcp.json': JSON.stringify({ mcpServers: servers }) });
  for (const format of ['--text', '--json']) {
    const { stdout, stderr } = await home.run(['import', '--dry-run', format]);
    expect(stdout).toContain('c');
    expect(stdout + stderr).not.toContain('hidden');
  }
});

test('init: fails without a terminal and without --yes, and changes nothing', async () => {
  const home = newHome({ '.cursor/mcp.json': before() });
  const config = home.config();
  const { code, stdout, stderr } = await home.run(['init']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(
    'there is none. Nothing was changed. To set up without questions, run: trunkline init --yes',
  );
  expect([home.config(), readFileSync(join(home.folder, '.cursor/mcp.json'), 'utf8')]).toEqual([
    config,
    before(),
  ]);
});

test('init --yes: without a terminal, imports what works, holds it for approval, and connects nothing', async () => {
  const client = JSON.stringify({
    mcpServers: { plain: fixture('plain'), other: { command: 'no-such-program' } },
  });
  // A project file is never read, and nothing of it runs.
  const project = JSON.stringify({ mcpServers: { evil: { command: 'touch', args: ['ran'] } } });
  const home = newHome({ '.cursor/mcp.json': client });
  const cwd = temporaryFolder('work');
  writeFileSync(join(cwd, '.mcp.json'), project);
  // A new user has no folder for the configuration yet.
  const env = { TRUNKLINE_HOME: undefined, XDG_CONFIG_HOME: join(home.folder, 'absent') };
  const configFile = join(env.XDG_CONFIG_HOME, 'trunkline', 'config.jsonc');
  const { code, stdout, stderr } = await home.run(['init', '--yes', '--text'], { cwd, env });
  expect(code).toBe(0);
  expect(stderr).toMatch(/Testing 2 servers, which starts the programs above/);
  expect(stderr).toMatch(/Left out 1 server of .*\.mcp\.json/);
  expect(stdout).toMatch(/Done: 1 of 2 servers work, 1 needs your attention \(other\), 0 clients connected/);
  const { mcpServers } = parse(readFileSync(configFile, 'utf8')) as { readonly mcpServers: object };
  expect(mcpServers).toEqual({ plain: { ...fixture('plain'), env: expect.anything(), trust: 'manual' } });
  expect(readFileSync(join(home.folder, '.cursor/mcp.json'), 'utf8')).toBe(client);
  expect(existsSync(join(cwd, 'ran'))).toBe(false);
});

test('init: takes over servers, connects a client and finds a first tool', async () => {
  const plain = fixture('plain');
  const client = JSON.stringify({ mcpServers: { plain, other: { command: 'x' } } });
  const home = newHome({ '.cursor/mcp.json': client });
  // Setup in a real terminal is in setup-terminal.test.ts, which needs the program expect.
  const terminal = 'process.stdin.isTTY = process.stderr.isTTY = true';
  const words = ['init', '--import', 'plain', '--connect', 'cursor', '--search', 'add two numbers'];
  const { code, stdout, stderr } = await home.run(words, {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(terminal)}` },
  });
  expect(stderr).not.toContain('?');
  expect(stdout).toMatch(/ready +plain +18 tools[^]*plain__add[^]*1 client connected/);
  expect(code).toBe(0);
  expect(JSON.parse(home.config())).toEqual({ mcpServers: { plain } });
  const after = readFileSync(join(home.folder, '.cursor/mcp.json'), 'utf8');
  expect(Object.keys((JSON.parse(after) as { mcpServers: object }).mcpServers)).toEqual([
    'other',
    'trunkline',
  ]);
});

function before(): string {
  return '{ "mcpServers": { "a": { "command": "x" } } }';
}
