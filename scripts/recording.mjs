// npm run recording: runs `init`, a search, a call and the undo in a real terminal, and writes the run as an animated picture
// into docs/images/first-minute.svg. With --check it changes nothing, and fails if the run no longer prints what the picture shows.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';
import { openDashboardPage } from './dashboard-page.mjs';
import { createRecordingHome } from './demo/recording-home.mjs';
import { ensure } from './ensure.mjs';
import { renderRecording } from './render-recording.mjs';
import { TerminalFilm } from './terminal-film.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist', 'main.js');
const target = join(root, 'docs', 'images', 'first-minute.svg');
const isCheck = process.argv.includes('--check');
const COLUMNS = 100;
const ROWS = 30;
/** Always the same folder, because the commands print it. */
const home = join(tmpdir(), 'ada');
/** The longest time that a person reads without anything happening, in milliseconds of the film. */
const READING_MS = 1600;

ensure();
await build();
if (spawnSync('expect', ['-v']).error !== undefined)
  throw new Error('The recording drives a terminal with "expect". Install it with: npm run test:setup');

const env = {
  HOME: home,
  PATH: `${join(home, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  PAGER: '',
};
const film = new TerminalFilm({ columns: COLUMNS, rows: ROWS });
createRecordingHome(home);
try {
  await record();
} finally {
  spawnSync(process.execPath, [main, 'stop'], { env: { ...process.env, ...env } });
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
}

async function record() {
  await run('trunkline init', [
    answer('as your clients do', ''),
    answer('Type or paste the value of SLACK_TOKEN', 'xoxb-made-up-value', { isHidden: true }),
    answer('Correct the command of jira', 'npx -y @acme/notes-mcp'),
    answer('new servers?', ''),
    answer('Connect which clients', ''),
    answer('Change these', ''),
    answer('do first', 'find open issues'),
  ]);
  await run('trunkline call github search_issues query=crash');
  // The command prints a link that is different each time, so that its output is not part of the film.
  await film.type('$ trunkline dashboard\r\n');
  const picture = isCheck ? undefined : await takeDashboardPicture();
  film.showPicture();
  await run('trunkline connect cursor --undo');
  const transcript = film.transcript();
  if (isCheck) check(transcript);
  else {
    writeFileSync(
      target,
      renderRecording(film.frames, { columns: COLUMNS, rows: ROWS, picture, transcript }),
    );
    console.log(
      `${target}  ${Math.round(readFileSync(target).length / 1000)} kB, ${film.frames.length} frames`,
    );
  }
}

function answer(question, text, { isHidden = false } = {}) {
  return { question, text, isHidden };
}

/** Types a command, runs it, and gives these answers to its questions. */
async function run(command, answers = []) {
  await film.type(`$ ${command}\r\n`);
  const words = [process.execPath, main, ...command.split(' ').slice(1)];
  const script = [
    'set timeout 60',
    `set stty_init "rows ${ROWS} columns ${COLUMNS}"`,
    'set send_slow {1 .04}',
    `spawn -noecho ${words.map(quote).join(' ')}`,
    ...answers.flatMap(({ question, text, isHidden }) => [
      `expect {\n -ex ${quote(question)} {}\n timeout { exit 99 }\n eof { exit 98 }\n}`,
      'sleep 1',
      `send ${isHidden ? '' : '-s '}${quote(`${text}\r`)}`,
    ]),
    'expect eof',
    'exit [lindex [wait] 3]',
  ];
  const child = spawn('expect', ['-c', script.join('\n')], {
    env,
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let writing = Promise.resolve();
  child.stdout.on('data', (chunk) => {
    const at = performance.now();
    writing = writing.then(() => film.write(chunk, at));
  });
  await once(child, 'close');
  await writing;
  if (child.exitCode !== 0)
    throw new Error(
      `"${command}" ended with ${child.exitCode}:\n${film.transcript().split('\n').slice(-20).join('\n')}`,
    );
  film.pause(READING_MS);
}

function quote(word) {
  return `"${word.replaceAll(/[\\"$[\]{}]/g, String.raw`\$&`).replaceAll('\r', String.raw`\r`)}"`;
}

async function takeDashboardPicture() {
  const config = join(home, '.config', 'trunkline', 'config.jsonc');
  const context = { viewport: { width: 1100, height: 740 }, colorScheme: 'dark', reducedMotion: 'reduce' };
  const { page, close } = await openDashboardPage({ env: { ...process.env, ...env }, config, context });
  try {
    await page.locator('main').getByText('github').first().waitFor();
    return await page.screenshot({ type: 'jpeg', quality: 70 });
  } finally {
    await close();
  }
}

/** Fails if the picture shows another run. */
function check(transcript) {
  const shown = readFileSync(target, 'utf8').match(/<desc id="run">([^]*?)<\/desc>/)?.[1] ?? '';
  const lines = transcript.split('\n');
  const shownLines = shown
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .split('\n');
  const at = lines.findIndex((line, index) => line !== shownLines[index]);
  if (at < 0 && lines.length === shownLines.length) console.log('The recording is up to date.');
  else {
    console.error(`The recording shows another text. Record it again with: npm run recording`);
    console.error(`- ${shownLines[at] ?? '(end)'}\n+ ${lines[at] ?? '(end)'}`);
    process.exitCode = 1;
  }
}
