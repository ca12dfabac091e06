import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { commandHome, program } from '../../support/command.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { needs } from '../../support/needs.ts';

needs('keychain');

checkLeaks();

const TOKEN = 'planted-token-of-hand';

/** Runs a shell script in a desktop session with an unlocked keychain; `$TRUNKLINE` is the program. */
async function inSession(
  env: Readonly<Record<string, string | undefined>>,
  script: string,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const folder = temporaryFolder('session');
  const [runtime, data, file] = ['run', 'data', 'script'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [runtime, data]) mkdirSync(each, { mode: 0o700 });
  writeFileSync(
    file,
    `printf password | gnome-keyring-daemon --foreground --unlock --components=secrets >&2 &
keyring=$!
trap 'kill $keyring; wait $keyring' EXIT
# secret-tool would make D-Bus start a second, locked daemon, so ask the bus itself when ours is ready.
until dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
  string:org.freedesktop.secrets | grep -q true; do sleep 0.1; done
${script}`,
  );
  const all = {
    ...process.env,
    ...env,
    HOME: folder,
    XDG_RUNTIME_DIR: runtime,
    XDG_DATA_HOME: data,
    TRUNKLINE: `${process.execPath} ${program}`,
  };
  const child = spawn('dbus-run-session', ['--', 'sh', file], {
    env: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 25_000,
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  child.stderr.resume();
  await once(child, 'close').catch((error: unknown) => {
    throw new Error(
      'This test needs a session bus and a keychain: install the packages "dbus-daemon", "gnome-keyring" and "libsecret-tools".',
      { cause: error },
    );
  });
  return { code: child.exitCode, text };
}

test('keychain: stores the encryption key, without which tokens cannot be read', async () => {
  const home = commandHome({ github: { url: 'https://api.githubcopilot.com/mcp/' } });
  const env = { ...home.env, TRUNKLINE_KEYCHAIN: '1' };
  const { code, text } = await inSession(
    env,
    `echo ${TOKEN} | $TRUNKLINE login github --token --text
$TRUNKLINE auth --text
echo "kept: $(secret-tool lookup service trunkline account "$(sed s/keychain:// "$TRUNKLINE_HOME/state/secret.key")" | wc -c)"
secret-tool clear service trunkline
$TRUNKLINE auth --text 2>&1
echo "ended with $?"`,
  );
  expect(code).toBe(0);
  expect(text).toContain('Signed in to github.');
  expect(text).toMatch(/github +signed in/);
  // The Base64 form of 32 bytes has 44 characters.
  expect(text).toContain('kept: 44');
  expect(readFileSync(join(home.home, 'state', 'secret.key'), 'utf8')).toMatch(/^keychain:[0-9a-f]{32}\n$/);
  // Without the key nothing can be read, and existing data is not overwritten.
  expect(text).toContain('is in the system keychain, which did not return it');
  expect(text).toContain('ended with 1');
  const state = join(home.home, 'state');
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).map((name) => join(state, name));
  for (const path of files.filter((each) => statSync(each).isFile()))
    expect([path, readFileSync(path).includes(TOKEN)]).toEqual([path, false]);
});
