import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { findConfigDrafts } from '../../support/config-drafts.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startProtectedServer } from '../../support/sign-in.ts';
import { runInTerminal, visibleText } from '../../support/terminal.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { needs } from '../../support/needs.ts';

needs('expect');

checkLeaks();

const plain = fixture('plain');

/** A user whose home folder contains these client files. */
function person(files: Readonly<Record<string, string>> = {}) {
  const home = commandHome();
  const folder = temporaryFolder('person');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const env = {
    HOME: folder,
    XDG_CONFIG_HOME: undefined,
    APPDATA: undefined,
    VISUAL: undefined,
    NO_COLOR: '1',
  };
  return {
    ...home,
    folder,
    at: (
      args: readonly string[],
      script: readonly string[] = [],
      more: Readonly<Record<string, string>> = {},
    ) => runInTerminal(home, args, { script, env: { ...env, ...more } }),
    config: () => JSON.parse(readFileSync(home.configFile, 'utf8')) as { mcpServers: Record<string, object> },
  };
}

/** Waits for a question and answers it. */
const answer = (question: string, text: string): readonly string[] => [
  // Without the line break, expect would read everything as the pattern.
  `expect {\n "${question}" {}\n timeout { exit 99 }\n eof { exit 98 }\n}`,
  `send "${text}\\r"`,
];

describe('add at a terminal', () => {
  test('add: connects to the server at once and prints what it offers', async () => {
    const me = person();
    const { code, screen } = await me.at(['add', 'plain', '--', plain.command, ...plain.args]);
    expect(code).toBe(0);
    expect(visibleText(screen)).toMatch(
      /Added plain to .*\nplain has \d+ tools\. List them with: trunkline tools plain\n/,
    );
    expect(me.config()).toEqual({ mcpServers: { plain: { command: plain.command, args: plain.args } } });
  });

  test('add: explains why a server is unreachable and how to fix it, and exits with 4', async () => {
    const me = person();
    const { code, screen } = await me.at(['add', 'gone', '--', 'no-such-program']);
    expect(code).toBe(4);
    expect(me.config()).toEqual({ mcpServers: { gone: { command: 'no-such-program' } } });
    expect(screen).toContain('no-such-program');
    expect(screen).toContain('Correct its entry with: trunkline edit gone');
  });

  test('add: asks where to store secrets', async () => {
    const me = person();
    const words = ['add', 'x', '--env', 'API_KEY=abcdefghij', '--', plain.command, ...plain.args];
    const { screen } = await me.at(words, [...answer('in plain text', '')]);
    expect(screen).toContain('Where should secrets be stored?');
    expect(screen).not.toContain('abcdefghij');
    expect(me.config().mcpServers['x']).toMatchObject({ env: { API_KEY: '${secret:API_KEY}' } });
    expect(screen).toContain('List them with');
  });
});

test.each([['import'], ['connect cursor']])(
  '%s --yes: asks nothing, not even about secrets',
  async (line) => {
    const env = { ...plain.env, API_KEY: 'abcdefghij' };
    const me = person({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { plain: { ...plain, env } } }) });
    const { code, screen } = await me.at([...line.split(' '), '--yes']);
    expect(code).toBe(0);
    expect(screen).toContain('plain: env.API_KEY holds a secret in plain text');
    expect(screen).not.toMatch(/\?|abcdefghij/);
    expect(me.config().mcpServers).toHaveProperty('plain');
  },
);

test('add --yes: asks nothing, not even about secrets', async () => {
  const me = person();
  const server = [plain.command, ...plain.args];
  const { code, screen } = await me.at(['add', 'x', '--yes', '--env', 'API_KEY=abcdefghij', '--', ...server]);
  expect(code).toBe(0);
  expect(screen).not.toMatch(/\?|abcdefghij/);
  expect(me.config().mcpServers).toHaveProperty('x');
});

test('connect: keeps an existing entry for Trunkline and says so', async () => {
  const mine = { command: 'trunkline', args: ['serve'] };
  const me = person({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { plain, mine } }) });
  const { code, screen } = await me.at(['connect', 'cursor', '--yes']);
  expect(code).toBe(0);
  expect(screen).toContain('= mine stays: it already connects to Trunkline');
  expect(screen).not.toContain('+ trunkline');
  expect(JSON.parse(readFileSync(join(me.folder, '.cursor/mcp.json'), 'utf8'))).toEqual({
    mcpServers: { mine },
  });
});

describe('import at a terminal', () => {
  const files = { '.cursor/mcp.json': JSON.stringify({ mcpServers: { plain } }) };

  test.each([
    { said: 'y', is: ['plain'] },
    { said: 'n', is: [] },
  ])('import: asks before adding servers and obeys the answer $said', async ({ said, is }) => {
    const me = person(files);
    const { code } = await me.at(['import'], answer('Add 1 server to', said));
    expect(code).toBe(0);
    expect(Object.keys(me.config().mcpServers)).toEqual(is);
    expect(readFileSync(me.configFile, 'utf8')).not.toContain('manual');
  });

  test.each([
    { what: 'the input ends', key: '004' },
    { what: 'Ctrl-C is pressed', key: '003' },
  ])('import: changes nothing when $what', async ({ key }) => {
    const me = person(files);
    const { code, screen } = await me.at(['import'], ['expect "Add 1 server to"', `send "\\${key}"`]);
    expect(code).toBe(130);
    expect(screen).toContain('Nothing more was changed');
    expect(me.config()).toEqual({ mcpServers: {} });
  });
});

describe('init', () => {
  const files = {
    '.cursor/mcp.json': `{\n  // mine\n  "mcpServers": ${JSON.stringify({ plain, other: { command: 'x' } })}\n}\n`,
    '.codex/config.toml': 'model = "x"\n',
  };

  test('init: imports servers, connects a client and searches, as answered', async () => {
    const me = person(files);
    const { code, screen } = await me.at(
      ['init'],
      [
        ...answer('Test 2 servers now', 'n'),
        ...answer('Import 2 new servers', 'nonsense'),
        ...answer('Import 2 new servers', 'plain'),
        ...answer('Connect which clients? cursor, codex', 'codex'),
        ...answer('Change /', 'y'),
        ...answer('What would you like to do first', 'add two numbers'),
      ],
    );
    expect(code).toBe(0);
    expect(screen).toContain('No new server has the name nonsense.');
    expect(screen).toContain('Codex now uses Trunkline. Undo with: trunkline connect codex --undo');
    expect(screen).toMatch(/plain__add/);
    expect(Object.keys(me.config().mcpServers)).toEqual(['plain']);
    expect(readFileSync(join(me.folder, '.codex/config.toml'), 'utf8')).toMatch(
      /^model = "x"\n\n\[mcp_servers\.trunkline\]/,
    );
    expect(readFileSync(join(me.folder, '.cursor/mcp.json'), 'utf8')).toBe(files['.cursor/mcp.json']);
  });

  test('init: offers the sign-in of an imported server, and counts it as working afterwards', async () => {
    await using server = await startProtectedServer();
    const me = person({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { it: { url: server.url } } }) });
    const browser = fileURLToPath(new URL('../../support/approving-browser.mjs', import.meta.url));
    const { code, screen } = await me.at(
      ['init', '--search', ''],
      [
        ...answer('Test 1 server now', ''),
        ...answer('Import 1 new server', ''),
        ...answer('Connect which clients', ''),
        ...answer('Change /', ''),
        ...answer('Sign in to it now?', 'y'),
      ],
      { BROWSER: `${process.execPath} ${browser}` },
    );
    expect(code).toBe(0);
    expect(visibleText(screen)).toMatch(/Signed in to it/);
    expect(visibleText(screen)).toContain('Done: 1 of 1 server');
    expect(visibleText(screen)).not.toContain('your attention');
  });

  test('init: asks for several missing values in turn, and keeps what the servers that were ready sent', async () => {
    const one = { ...fixture('plain'), env: { KEY: '${env:INIT_ONE}' } };
    const two = { ...fixture('same-names'), env: { KEY: '${env:INIT_TWO}' } };
    const ready = fixture('plain');
    const me = person({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { ready, one, two } }) });
    const { code, screen } = await me.at(
      ['init', '--search', ''],
      [
        ...answer('Test 3 servers now', ''),
        ...answer('value of INIT_ONE for one', 'first-value'),
        ...answer('value of INIT_TWO for two', 'second-value'),
        ...answer('Import 3 new servers', ''),
        ...answer('Connect which clients', ''),
        ...answer('Change /', ''),
      ],
    );
    expect(code).toBe(0);
    expect(visibleText(screen)).toContain('Done: 3 of 3 servers work');
    expect(screen).not.toMatch(/first-value|second-value/);
    const listed = (await me.json(['tools'])) as readonly { readonly name: string }[];
    expect(listed.some(({ name }) => name === 'ready__echo')).toBe(true);
    expect(fixtureLog(ready).of('started')).toHaveLength(1);
  });

  test('init: tests servers, asks for a missing value, leaves out what fails, and connects all clients', async () => {
    const many = { ...fixture('many-tools'), env: { KEY: '${env:INIT_KEY}' } };
    const servers = { plain, many, gone: { command: 'no-such-program-of-ours' } };
    const me = person({ ...files, '.cursor/mcp.json': JSON.stringify({ mcpServers: servers }) });
    const { code, screen } = await me.at(
      ['init', '--search', ''],
      [
        ...answer('many: the environment variable INIT_KEY is not set*Test 3 servers now', ''),
        ...answer('Type or paste the value of INIT_KEY for many', 'the-hidden-value'),
        ...answer('Correct the command of gone?', ''),
        ...answer('Enter for the 2 without a failure', ''),
        ...answer('Connect which clients', 'all'),
        ...answer('Change these 2 files', ''),
      ],
    );
    expect(code).toBe(0);
    const text = visibleText(screen);
    expect(text).toMatch(/ready {3}plain {2}18 tools\n/);
    expect(text).toMatch(/failed {2}gone {3}Server "gone" cannot be started/);
    expect(text).toMatch(/ready {2}many {2}500 tools/);
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(
      /Done: 2 of 3 servers work, 1 needs your attention \(gone\), 2 clients connected, [\d,]{6,} → \d{3,4} tokens per chat\. Restart Cursor, Codex to apply/,
    );
    expect(screen).not.toContain('the-hidden-value');
    expect(Object.keys(me.config().mcpServers)).toEqual(['plain', 'many']);
    const cursor = JSON.parse(readFileSync(join(me.folder, '.cursor/mcp.json'), 'utf8')) as {
      mcpServers: object;
    };
    expect(Object.keys(cursor.mcpServers)).toEqual(['gone', 'trunkline']);
  });

  test('init: offers to correct the command of a failed server, and moves the corrected server', async () => {
    const gone = { command: 'no-such-program-of-ours', env: plain.env };
    const me = person({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { gone } }) });
    const { code, screen } = await me.at(
      ['init', '--search', ''],
      [
        ...answer('Test 1 server now', ''),
        ...answer('Correct the command of gone? Now: no-such-program-of-ours', `${process.execPath} 'open`),
        ...answer('A quotation mark is not closed', [plain.command, ...plain.args].join(' ')),
        ...answer('Import 1 new server', ''),
        ...answer('Connect which clients', ''),
        ...answer('Change /', ''),
      ],
    );
    expect(code).toBe(0);
    expect(visibleText(screen)).toMatch(/ready {2}gone {2}18 tools\n/);
    expect(screen).toContain('- gone (moves to Trunkline)');
    expect(me.config().mcpServers['gone']).toEqual({ ...plain });
    const cursor = readFileSync(join(me.folder, '.cursor/mcp.json'), 'utf8');
    expect(Object.keys((JSON.parse(cursor) as { mcpServers: object }).mcpServers)).toEqual(['trunkline']);
  });

  test.each([
    { said: 'n', taken: [], left: ['plain', 'other', 'trunkline'] },
    { said: 'plain', taken: ['plain'], left: ['other', 'trunkline'] },
  ])(
    'init: a connected client keeps the servers that were not imported (answer $said)',
    async ({ said, taken, left }) => {
      const me = person({ '.cursor/mcp.json': files['.cursor/mcp.json'] });
      const { code, screen } = await me.at(
        ['init', '--no-test', '--search', ''],
        [
          ...answer('Import 2 new servers', said),
          ...answer('Connect which clients? cursor', 'cursor'),
          ...answer('Change /', 'y'),
        ],
      );
      expect(code).toBe(0);
      const own = left.filter((name) => name !== 'trunkline');
      expect(screen.match(/= \S+ stays: it was not imported/g)).toEqual(
        own.map((name) => `= ${name} stays: it was not imported`),
      );
      expect(Object.keys(me.config().mcpServers)).toEqual(taken);
      const text = readFileSync(join(me.folder, '.cursor/mcp.json'), 'utf8').replace('// mine', '');
      expect(Object.keys((JSON.parse(text) as { mcpServers: object }).mcpServers)).toEqual(left);
    },
  );

  test('init: shows the planned change and leaves the client unchanged if declined', async () => {
    const me = person(files);
    const script = [
      ...answer('Import 2 new servers', 'y'),
      ...answer('Connect which clients', 'cursor'),
      ...answer('Change /', 'n'),
    ];
    const { code, screen } = await me.at(['init', '--no-test', '--search', ''], script);
    expect(code).toBe(0);
    expect(screen).toMatch(/- plain \(moves to Trunkline\)[^]*Change \/[^]*Cursor was not changed\./);
    expect(readFileSync(join(me.folder, '.cursor/mcp.json'), 'utf8')).toBe(files['.cursor/mcp.json']);
  });

  test.each([
    { at: 'the first question', before: [], question: 'Test 2' },
    {
      at: 'a test that does not end',
      before: answer('Test 2', 'y'),
      question: 'waiting for slow',
      servers: { plain, slow: fixture('never-answers') },
    },
    { at: 'the question for servers', before: answer('Test 2', 'n'), question: 'Import 2' },
    {
      at: 'the last question',
      before: [...answer('Test 2', 'n'), ...answer('Import 2', 'y'), ...answer('Connect which', 'all')],
      question: 'Change these 2',
    },
  ])('init: Ctrl-C at $at changes no file', async ({ before, question, servers }) => {
    const mine = {
      ...files,
      ...(servers && { '.cursor/mcp.json': JSON.stringify({ mcpServers: servers }) }),
    };
    const me = person(mine);
    const config = readFileSync(me.configFile, 'utf8');
    const script = [...before, `expect "${question}"`, String.raw`send "\003"`];
    const { code, screen } = await me.at(['init'], script);
    expect(code).toBe(130);
    // The cancellation is reported on its own line, below the question.
    expect(visibleText(screen)).toMatch(
      /\ntrunkline: The command was cancelled\. Nothing (?:more )?was changed\. \[CALL_CANCELLED\]\n$/,
    );
    expect(readFileSync(me.configFile, 'utf8')).toBe(config);
    for (const [path, text] of Object.entries(mine))
      expect(readFileSync(join(me.folder, path), 'utf8')).toBe(text);
  });

  test('init: accepts every answer as an option', async () => {
    const me = person(files);
    const words = [
      'init',
      '--import',
      'all',
      '--connect',
      'cursor',
      '--search',
      'echo',
      '--references',
      'file',
    ];
    const { code, screen } = await me.at(words);
    expect(code).toBe(0);
    expect(screen).not.toMatch(/\?/);
    expect(Object.keys(me.config().mcpServers)).toEqual(['plain', 'other']);
    expect(readFileSync(join(me.folder, '.cursor/mcp.json'), 'utf8')).toMatch(
      /^\{\n {2}\/\/ mine\n[^]*"trunkline"/,
    );
    expect(screen).toContain('plain__echo');
    const again = await me.at(['init', '--yes', '--search', '']);
    expect([again.code, again.screen.includes('There are no new servers.')]).toEqual([0, true]);
  });

  test('init: names the servers that await approval', { tags: ['slow'] }, async () => {
    const me = person({ '.cursor/mcp.json': files['.cursor/mcp.json'] });
    const held = 'Held for approval: plain, other. None of their tools can be called yet. Review with';
    await me.run(['import', '--yes'], { env: { HOME: me.folder, XDG_CONFIG_HOME: '', APPDATA: '' } });
    const { code, screen } = await me.at(['init', '--search', '', '--connect', 'none']);
    expect(code).toBe(0);
    expect(visibleText(screen).replaceAll(/\s+/g, ' ')).toContain(
      `There are no new servers. ${held}: trunkline approvals Done:`,
    );
    expect(
      visibleText(screen)
        .split('\n')
        .filter(({ length }) => length > 80),
    ).toEqual([]);
    // Connecting the client approves its servers.
    const after = await me.at(['init', '--search', '', '--connect', 'cursor']);
    expect([after.code, after.screen.includes('Held for approval')]).toEqual([0, false]);
  });

  test('init: creates a config file and says what to do when no client is found', async () => {
    const me = person();
    const { code, screen } = await me.at(['init'], [], { TRUNKLINE_HOME: join(me.home, 'new') });
    expect(code).toBe(0);
    expect(screen).toContain('No other client on this machine has servers');
    expect(screen).toContain('trunkline connect other');
    expect(existsSync(join(me.home, 'new', 'config.jsonc'))).toBe(true);
  });
});

describe('edit', () => {
  /** An editor that performs the next step each time it is opened. */
  function editor(...steps: readonly string[]): string {
    const folder = temporaryFolder('editor');
    const file = join(folder, 'editor');
    writeFileSync(
      file,
      `#!/bin/sh\ncd ${folder}\necho x >> count\ncase $(wc -l < count) in\n${steps.map((step, at) => `${at + 1}) ${step} "$1";;`).join('\n')}\nesac\n`,
    );
    chmodSync(file, 0o755);
    return file;
  }

  test('edit: offers to reopen an invalid draft, and saves it once it is valid', async () => {
    const me = person();
    const { code, screen } = await me.at(['edit'], answer('Open it again', 'y'), {
      EDITOR: editor(
        'sed -i s/mcpServers/mcpServer/',
        `sed -i 's/mcpServer"/mcpServers"/;s/{}/{"a":{"command":"x"}}/'`,
      ),
    });
    expect(screen).toContain('did you mean "mcpServers"?');
    expect(screen).toContain('Saved ');
    expect(code).toBe(0);
    expect(me.config()).toEqual({ mcpServers: { a: { command: 'x' } } });
  });

  test('edit: keeps an abandoned draft, prints its path, and resumes it later', async () => {
    const me = person();
    const before = readFileSync(me.configFile, 'utf8');
    const broken = editor('sed -i s/mcpServers/oops/');
    const { code, screen } = await me.at(['edit'], answer('Open it again', 'n'), { EDITOR: broken });
    const [draft = ''] = findConfigDrafts(me.home);
    expect(code).toBe(3);
    expect(screen.replaceAll(/\s/g, '')).toContain(`Yourdraftisin${draft}`);
    expect([readFileSync(me.configFile, 'utf8'), readFileSync(draft, 'utf8').includes('oops')]).toEqual([
      before,
      true,
    ]);
    const later = await me.at(['edit'], answer('Continue with it', 'y'), {
      EDITOR: editor('sed -i s/oops/mcpServers/'),
    });
    expect([later.code, existsSync(draft)]).toEqual([0, false]);
  });
});

test(
  'connect: confirming the plan also approves a held server that a script added',
  { tags: ['slow'] },
  async () => {
    const me = person({ '.cursor/mcp.json': JSON.stringify({ mcpServers: { plain } }) });
    writeFileSync(
      me.configFile,
      `{ "mcpServers": { "mine": ${JSON.stringify({ ...plain, trust: 'manual' })} /* kept */ } }`,
    );
    const before = await me.at(['connect', 'cursor'], answer('Change /', 'n'));
    expect(before.screen).toContain('! mine is already in Trunkline, but held for approval');
    expect(readFileSync(me.configFile, 'utf8')).toContain('manual');
    const { code, screen } = await me.at(['connect', 'cursor'], answer('Change /', 'y'));
    expect(code).toBe(0);
    expect(screen).not.toContain('trunkline approvals');
    const [start = '', end = '', ...more] = readFileSync(me.configFile, 'utf8').split(' /* kept */');
    expect([JSON.parse(start + end), more]).toEqual([{ mcpServers: { mine: plain } }, []]);
    expect((await me.at(['call', 'mine__echo', 'text=taken'])).screen).toContain('taken');
  },
);

test('secret set: reads a value at a terminal without showing it', async () => {
  const me = person();
  const script = ['expect "It is not shown"', String.raw`send "hidden\177n-value\r"`];
  const { code, screen } = await me.at(['secret', 'set', 'TOKEN'], script);
  expect(code).toBe(0);
  expect(visibleText(screen)).toContain('Stored TOKEN in the encrypted database');
  expect(screen).not.toMatch(/hidden|value\r/);
});

test('connect: asks before it changes a file, and --undo restores it', async () => {
  const text = '{ "mcpServers": { "a": { "command": "x" } } }';
  const me = person({ '.cursor/mcp.json': text });
  const file = join(me.folder, '.cursor/mcp.json');
  await me.at(['connect', 'cursor'], answer('Change /', 'n'));
  expect(readFileSync(file, 'utf8')).toBe(text);
  const { code } = await me.at(['connect', 'cursor'], answer('Change /', 'y'));
  expect(code).toBe(0);
  expect(me.config()).toEqual({ mcpServers: { a: { command: 'x' } } });
  expect((await me.at(['connect', 'cursor', '--undo'])).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
