import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

const LIMIT_MS = 180_000;

/**
 * Returns the peers that can run here, each with the path of its program, and the others with the reason, which is printed. Each peer is
 * installed once, into its own folder below the temporary folder, and stays there for the next run.
 */
export async function installPeers(peers, { say, nodeVersion = process.versions.node }) {
  const cache = cacheFolder();
  const ready = [];
  const skipped = [];
  for (const peer of peers) {
    try {
      const wanted = [`${peer.package}@${peer.version}`];
      if (isOlder(nodeVersion, peer.node)) wanted.push(`node@${peer.node}`);
      const folder = join(cache, wanted.join('_').replaceAll('/', '+'));
      if (!existsSync(folder)) {
        say(`installing ${wanted.join(' and ')} …`);
        await install(folder, wanted);
      }
      ready.push({ ...peer, ...programOf(folder, peer, nodeVersion) });
    } catch (error) {
      skipped.push({ name: peer.name, version: peer.version, reason: error.message });
    }
  }
  return { ready, skipped };
}

/** Only this user can write here, because its content is executed. */
function cacheFolder() {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `trunkline-bench-peers-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (uid !== -1 && statSync(folder).uid !== uid) throw new Error(`${folder} belongs to somebody else`);
  return folder;
}

/** Installs into a temporary name and renames it: a folder with the final name is complete. */
async function install(folder, wanted) {
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making);
  writeFileSync(join(making, 'package.json'), JSON.stringify({ name: 'bench-peer', private: true }));
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
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
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

/** The line of npm's error output that gives the reason. */
export function reasonIn(said) {
  const lines = said.split('\n').filter((line) => /^npm (error|ERR!)/.test(line));
  const texts = lines.map((line) => line.replace(/^npm (error|ERR!)\s*/, '').trim()).filter(Boolean);
  const code = texts.find((text) => text.startsWith('code '))?.slice(5);
  if (code === 'E404') return 'it is not in the npm registry that is used here';
  const first = texts.find((text) => !text.startsWith('code ')) ?? 'npm could not install it';
  return first.slice(0, 120);
}

function programOf(folder, peer, nodeVersion) {
  const packageFile = join(folder, 'node_modules', peer.package, 'package.json');
  const { bin, engines } = JSON.parse(readFileSync(packageFile, 'utf8'));
  const inside = (path) => join(dirname(packageFile), path);
  if (peer.binary !== undefined && existsSync(inside(peer.binary))) return { binary: inside(peer.binary) };
  const script = inside(typeof bin === 'string' ? bin : bin[peer.bin]);
  if (isOlder(nodeVersion, peer.node))
    return { script, binary: join(folder, 'node_modules', 'node', 'bin', 'node') };
  const least = leastMajor(engines?.node);
  if (least > major(nodeVersion)) throw new Error(`it needs Node ${least} or newer`);
  return { script, binary: undefined };
}

function isOlder(version, wanted) {
  return wanted !== undefined && major(version) < major(wanted);
}

function major(version) {
  return Number.parseInt(version, 10);
}

/** The major version in a range such as `>=24`, or 0 without one. */
export function leastMajor(range = '') {
  return Number(/>=\s*(\d+)/.exec(range)?.[1] ?? 0);
}
