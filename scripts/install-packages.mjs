import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const LIMIT_MS = 300_000;

/** Installs npm packages into a temporary folder and renames it: a folder with the final name is complete. */
export async function installPackages(folder, wanted) {
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  writeFileSync(join(making, 'package.json'), JSON.stringify({ private: true }));
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const args = [
    'install',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--engine-strict=false',
    '--save-exact',
    ...wanted,
  ];
  try {
    await run(npm, args, making);
    renameSync(making, folder);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    throw error;
  }
}

function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: environment(cwd),
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-8000)));
    const end = () => {
      try {
        process.kill(-Number(child.pid), 'SIGKILL');
      } catch {
        // The process has already ended.
      }
    };
    const limit = setTimeout(() => {
      end();
      reject(new Error(`npm took longer than ${LIMIT_MS / 1000} s`));
    }, LIMIT_MS);
    process.once('exit', end);
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(limit);
      process.off('exit', end);
      if (code === 0) resolve();
      else reject(new Error(reasonIn(said)));
    });
  });
}

/** Install scripts of packages write into the home folder, so they get the folder of the installation instead of the user's. */
function environment(home) {
  // The variables that npm sets for scripts of this package would override the settings of the user.
  const own = Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name));
  const settings = {
    npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
    npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
  };
  // Browsers are large, and nothing that is installed here needs one.
  const withoutBrowsers = { PUPPETEER_SKIP_DOWNLOAD: '1', PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' };
  return { ...Object.fromEntries(own), ...settings, ...withoutBrowsers, HOME: home };
}

/** The line of npm's error output that gives the reason. */
export function reasonIn(said) {
  const lines = said.split('\n').filter((line) => /^npm (error|ERR!)/.test(line));
  const texts = lines.map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim()).filter(Boolean);
  const code = texts.find((text) => text.startsWith('code '))?.slice(5);
  if (code === 'E404') return 'it is not in the npm registry that is used here';
  const first = texts.find((text) => !text.startsWith('code ')) ?? 'npm could not install it';
  return first.slice(0, 120);
}
