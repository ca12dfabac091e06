import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { type CommandHome, commandHome } from '../support/command.ts';
import { draftsOf } from '../support/drafts-of.ts';
import { fixture, fixtureLog } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { SharedHome } from '../support/shared-home.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

/** A home that has nothing but what the test writes into it, and no configuration of Trunkline. */
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
  test('makes a commented configuration that only its owner can read', async () => {
    const home = temporaryFolder('new');
    const { code, stdout, stderr } = await commandHome().run(
      ['add', 'files', '--text', '--', 'npx', '-y', 'server', '--flag'],
      {
        env: { TRUNKLINE_HOME: join(home, 'deep') },
      },
    );
    const file = join(home, 'deep', 'config.jsonc');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Added files to ${file}\n` });
    expect(stderr).toContain(`Wrote a first configuration to ${file}`);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^\/\/ Configuration of Trunkline[^]*"args": \["-y", "server", "--flag"\]/,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  });

  test('keeps comments and formatting, and a server works at once', async () => {
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
  ])('$words', async ({ words, is }) => {
    const home = newHome();
    expect(JSON.parse((await home.run(['add', 'x', '--trust', ...words])).stdout)).toMatchObject({
      added: 'x',
      keptIn: 'file',
      trust: 'first-sight',
    });
    expect(JSON.parse(home.config())).toEqual({ mcpServers: { x: is } });
  });

  test('a program with a path of the current folder works wherever it is started later', async () => {
    const home = newHome();
    const cwd = temporaryFolder('project');
    const server = fixture('plain');
    write(join(cwd, 'srv', 'start.sh'), `exec '${[server.command, ...server.args].join("' '")}'\n`);
    const words = ['add', 'plain', '--trust', '--text', '--', 'sh', 'srv/start.sh'];
    const { stderr } = await home.run(words, { cwd });
    expect(stderr).toContain(`It will be started in ${cwd}, where srv/start.sh is`);
    expect(JSON.parse(home.config())).toEqual({
      mcpServers: { plain: { command: 'sh', args: ['srv/start.sh'], cwd } },
    });
    expect((await home.run(['call', 'plain', 'echo', 'text=there', '--text'])).stdout).toBe('there\n');
  });

  test('without a terminal waits for a person, unless trusted', async () => {
    const home = newHome();
    const { stderr } = await home.run(['add', 'x', '--url', 'https://x.example/mcp']);
    expect(stderr).toContain('waits for a person');
    expect(home.config()).toContain('"trust": "manual"');
  });

  test.each([
    {
      words: ['--', 'no-such-program-of-ours'],
      code: 'UPSTREAM_REFUSED',
      says: 'no-such-program-of-ours',
    },
    { words: ['--env', 'A=${env:NOT_SET_HERE}', '--', 'node'], code: 'SECRET_MISSING', says: 'NOT_SET_HERE' },
  ])('without a terminal says what is known to be wrong: $words', async ({ words, code, says }) => {
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
  ])('secrets in plain text are pointed out, never printed: $place', async ({ place, text }) => {
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
  });

  test.each([
    { words: ['x'], code: 2, says: 'Say in one way how the server is reached' },
    { words: ['x', '--url', 'u', '--', 'y'], code: 2, says: 'Say in one way' },
    { words: ['--url', 'https://x.example'], code: 2, says: 'Say under which name' },
    { words: ['x', '--'], code: 2, says: 'A command must follow --' },
    { words: ['x', '--url', 'nonsense'], code: 2, says: 'cannot be added: "url"' },
    { words: ['x', '--env', 'A', '--', 'y'], code: 2, says: '--env needs a name and a value' },
    { words: ['x', '--header', 'A=b', '--', 'y'], code: 2, says: '--header is for servers at an address' },
    { words: ['x\u0001', '--url', 'https://x.example'], code: 2, says: 'control characters' },
    { words: ['taken', '--url', 'https://x.example'], code: 2, says: '--replace' },
  ])('$words is refused and changes nothing', async ({ words, code, says }) => {
    const home = newHome();
    const before = '{ "mcpServers": { "taken": { "command": "x" } } }';
    writeFileSync(home.configFile, before);
    const result = await home.run(['add', ...words]);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(says);
    expect(home.config()).toBe(before);
  });

  test('does not touch a broken configuration', async () => {
    const home = newHome();
    writeFileSync(home.configFile, '{ oops');
    const { code, stderr } = await home.run(['add', 'x', '--url', 'https://x.example']);
    expect([code, home.config()]).toEqual([3, '{ oops']);
    expect(stderr).toContain('trunkline edit');
  });

  test.each([
    { where: 'in a configuration', env: {} },
    { where: 'that make one', env: { TRUNKLINE_CONFIG: 'new.jsonc' } },
  ])('several at the same time $where are all there', async ({ env }) => {
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

  test('one name twice at the same time is there once, and the other is refused', async () => {
    const home = newHome();
    const all = await Promise.all(
      [0, 1, 2].map((at) => home.run(['add', 'same', '--url', `https://${at}.example/mcp`])),
    );
    expect(all.filter(({ code }) => code === 0)).toHaveLength(1);
    for (const { code, stderr } of all)
      if (code !== 0) expect(stderr).toMatch(/\[REVISION_CONFLICT\]|--replace it\. \[USAGE\]/);
  });

  test('keeps a project configuration trusted that was', async () => {
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

  test('change one entry and nothing else', async () => {
    const home = newHome();
    writeFileSync(home.configFile, text);
    expect((await home.run(['disable', 'a', '--text'])).stdout).toBe('a is disabled now\n');
    expect(home.config()).toBe(text.replace('"x" }', '"x", "enabled": false }'));
    expect((await home.run(['disable', 'a', '--text'])).stdout).toBe('a is disabled already\n');
    expect((await home.run(['enable', 'a', '--text'])).stdout).toBe('a is enabled now\n');
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
    '%s of a server that is not there names those that are near',
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
  ])('with $editor', async ({ editor, code, after }) => {
    const home = newHome();
    writeFileSync(home.configFile, '{ "mcpServers": { "a": { "command": "old" } } }');
    const { code: exit, stderr } = await home.run(['edit'], { env: { VISUAL: editor, EDITOR: 'false' } });
    expect([exit, home.config()]).toEqual([code, `{ "mcpServers": { "a": { "command": "${after}" } } }`]);
    const drafts = draftsOf(home.home);
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

  test('what somebody else wrote since a draft was begun is not undone by it, and the draft stays', async () => {
    const home = newHome();
    const text = '{ "mcpServers": { "a": { "command": "old" } } }';
    writeFileSync(home.configFile, text);
    const breaks = { env: { VISUAL: 'sed -i s/mcpServers/mcpServer/' } };
    expect((await home.run(['edit'], breaks)).code).toBe(3);
    const [draft = ''] = draftsOf(home.home);
    writeFileSync(home.configFile, text.replace('}', '}, "b": { "command": "other" }'));
    const { code, stderr } = await home.run(['edit'], { env: { VISUAL: 'sed -i s/old/new/' } });
    expect([code, [...home.config().matchAll(/"(\w)": \{/g)].map(([, name]) => name)]).toEqual([
      0,
      ['a', 'b'],
    ]);
    expect(home.config()).toContain('new');
    expect(stderr).toContain(`The draft in ${draft} was begun before`);
    expect(draftsOf(home.home)).toEqual([draft]);
  });

  test('what somebody else writes while the editor is open stays, and so does the draft', async () => {
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
    const [draft = ''] = draftsOf(home.home);
    expect([code, home.config()]).toEqual([1, other]);
    expect(stderr).toContain(`Your draft is in ${draft}`);
    expect(readFileSync(draft, 'utf8')).toContain('new');
  });

  test('without a terminal and without an editor that needs none is refused, and leaves no draft', async () => {
    const home = newHome();
    const { code, stderr } = await home.run(['edit'], { env: { VISUAL: undefined, EDITOR: undefined } });
    expect(code).toBe(2);
    expect(stderr).toContain('set VISUAL or EDITOR');
    expect(draftsOf(home.home)).toEqual([]);
  });

  test('mends a broken configuration', async () => {
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

  test('shows a plan, applies it, and changes nothing the second time', async () => {
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
      ['unusable', 'odd', '"ws" is not a transport that Trunkline has'],
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
    expect([asked.code, asked.stderr.includes('--yes adds them')]).toEqual([2, true]);

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
    expect((await home.run(['import', '--yes', '--text'])).stdout).toContain('Nothing is new.');
    expect(home.config()).toBe(after);
  });

  test('from one client, a file, some servers, under other names', async () => {
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
  ])('from $from says what is wrong', async ({ from, code, says }) => {
    const result = await newHome().run(['import', '--from', from]);
    expect([result.code, result.stderr.includes(says)]).toEqual([code, true]);
  });
});

describe('connect', () => {
  const text = '{\n  // mine\n  "mcpServers": {"plain": PLAIN},\n  "x": [1,2] }\n';
  const plain = fixture('plain');
  const before = text.replace('PLAIN', JSON.stringify(plain));

  test('puts Trunkline in front of the servers of a client, which then starts it; and back, to the byte', async () => {
    const home = newHome({ '.cursor/mcp.json': before });
    const file = join(home.folder, '.cursor', 'mcp.json');
    const shown = await home.run(['connect', 'cursor', '--dry-run', '--text']);
    expect([shown.stdout, readFileSync(file, 'utf8')]).toEqual([
      `${file}\n  + trunkline\n  - plain, which is behind Trunkline then\n`,
      before,
    ]);
    expect((await home.run(['connect', 'cursor'])).code).toBe(2);
    const done = JSON.parse((await home.run(['connect', 'cursor', '--yes', '--trust'])).stdout) as {
      backup: string;
    };
    expect(readFileSync(done.backup, 'utf8')).toBe(before);
    const after = readFileSync(file, 'utf8');
    expect(after).toMatch(/^\{\n {2}\/\/ mine\n[^]*"x": \[1,2\] \}\n$/);
    // What the client would start has the server behind it.
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
      'Cursor is connected already.\n',
    );
    expect([readFileSync(file, 'utf8'), home.config()]).toEqual([after, config]);
    expect((await home.run(['connect', 'cursor', '--undo'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await home.run(['connect', 'cursor', '--undo'])).code).toBe(6);
  });

  test('says what waits for a person, with the command that lets it go on', async () => {
    const home = newHome({ '.cursor/mcp.json': before });
    const done = await home.run(['connect', 'cursor', '--yes']);
    expect(JSON.parse(done.stdout)).toMatchObject({ moved: ['plain'], held: ['plain'] });
    expect(done.stderr).toContain('trunkline approvals accept plain --all');
    await home.run(['connect', 'cursor', '--undo']);
    // It is in our configuration already, where it is held as before.
    const again = await home.run(['connect', 'cursor', '--yes', '--text']);
    expect(again.stdout).toContain('! plain is there already, and held until a person agrees');
    expect(again.stderr).toContain(
      'plain waits for a person. To agree:\n  trunkline approvals accept plain --all',
    );
    const imported = await home.run(['import', '--from', 'cursor']);
    expect([imported.code, imported.stderr]).toEqual([0, '']);
    write(join(home.folder, '.codeium/windsurf/mcp_config.json'), before);
    expect((await home.run(['import', '--from', 'windsurf'])).stderr).toContain('accept plain --all');
    expect(await home.run(['import', '--from', 'windsurf', '--only', 'plai'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(
        'No server "plai" was found to be taken over. Did you mean plain?',
      ) as string,
    });
    const [, ...words] = 'trunkline approvals accept plain --all'.split(' ');
    expect((await home.run(words)).code).toBe(0);
    expect((await home.run(['call', 'plain', 'echo', 'text=on', '--text'])).stdout).toBe('on\n');
  });

  test('--dry-run points out secrets in plain text, and servers of ours that are disabled', async () => {
    const secret = { ...plain, env: { API_KEY: 'abcdefghij' } };
    const home = newHome({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { secret, plain } }) });
    writeFileSync(home.configFile, JSON.stringify({ mcpServers: { plain: { ...plain, enabled: false } } }));
    const { stdout, stderr } = await home.run(['connect', 'cursor', '--dry-run', '--text']);
    expect(stderr).toContain('secret: env.API_KEY holds a secret in plain text; --references moves it out');
    expect(stdout).toContain('! plain is there already, and disabled: trunkline enable plain');
    const { stdout: json } = await home.run(['connect', 'cursor', '--dry-run']);
    expect(JSON.parse(json)).toMatchObject({
      written: false,
      secrets: [{ server: 'secret', at: 'env.API_KEY', variable: 'API_KEY' }],
    });
    expect(stdout + stderr + json).not.toContain('abcdefghij');
  });

  test('is not undone over what somebody else changed, and says how the servers come back', async () => {
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

  test('makes a file for a client that has none, which is gone again afterwards', async () => {
    const home = newHome();
    const file = join(home.folder, '.codex', 'config.toml');
    expect((await home.run(['connect', 'codex', '--yes'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/^\[mcp_servers\.trunkline\]\ncommand = /);
    expect((await home.run(['connect', 'codex', '--undo'])).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  test('of a file that cannot be edited prints what to paste', async () => {
    const home = newHome({ '.codex/config.toml': 'mcp_servers = { a = { command = "x" } }\n' });
    const { code, stderr } = await home.run(['connect', 'codex', '--yes']);
    expect(code).toBe(3);
    expect(stderr).toContain('Put this into it by hand');
    expect(stderr).toContain('cannot be edited safely');
    expect(readFileSync(join(home.folder, '.codex/config.toml'), 'utf8')).toContain('a = {');
    expect(JSON.parse((await home.run(['connect', 'other'])).stdout)).toMatchObject({
      mcpServers: { trunkline: {} },
    });
    expect((await home.run(['connect', 'cursr'])).stderr).toContain('Did you mean cursor?');
  });
});

test('a gateway that runs is said to use what was changed, and none is spoken of where none runs', async () => {
  await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
  const pipe = await home.pipe();
  await pipe.client();
  expect((await home.command('add', 'x', '--url', 'https://x.example/mcp')).stderr).toContain(
    'The running gateway has taken up the change.',
  );
  await home.command('stop');
  expect((await home.command('remove', 'x')).stderr).not.toContain('gateway');
});

test('nothing that may be a secret is shown by a plan', async () => {
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

test('init without a terminal says so and does nothing', async () => {
  const home = newHome({ '.cursor/mcp.json': before() });
  const config = home.config();
  const { code, stdout, stderr } = await home.run(['init', '--yes']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('there is no terminal; nothing was done');
  expect([home.config(), readFileSync(join(home.folder, '.cursor/mcp.json'), 'utf8')]).toEqual([
    config,
    before(),
  ]);
});

function before(): string {
  return '{ "mcpServers": { "a": { "command": "x" } } }';
}
