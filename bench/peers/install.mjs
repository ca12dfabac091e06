import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

import { installPackages } from '../../scripts/install-packages.mjs';

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
        await installPackages(folder, wanted);
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
