import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from '../../support/eventually.ts';
import type { Fault } from './fault.ts';

/** In seconds. Jumps stay below 30 days, after which every session has expired, including one that is opened while the clock is behind. */
const day = 86_400;

/** Changes the environment of one server, which restarts it. */
export const configChange: Fault = async ({ environment }, { random }) => {
  const { config } = environment;
  config.change({ generation: config.switches.generation + 1 }, random.chance(0.5));
  return 'one';
};

/** Removes a server from the configuration and adds it again. */
export const configRemove: Fault = async ({ environment }, { random, lastsMs }) => {
  environment.config.change({ hasRemovable: false }, random.chance(0.5));
  await sleep(lastsMs);
  environment.config.change({ hasRemovable: true }, random.chance(0.5));
  return 'removable';
};

/** Adds a server to the configuration and removes it again. */
export const configAdd: Fault = async ({ environment }, { random, lastsMs }) => {
  environment.config.change({ hasAddable: true }, random.chance(0.5));
  await sleep(lastsMs);
  environment.config.change({ hasAddable: false }, random.chance(0.5));
  return 'addable';
};

/** Saves half of the file, invalid text, or an empty file, and repairs it. */
export const configBroken: Fault = async ({ environment: { config } }, { random, lastsMs }) => {
  const text = config.text();
  const broken = random.pick([
    text.slice(0, Math.floor(text.length / 2)),
    '',
    '{"mcpServers": 7}',
    'no JSON',
  ]);
  config.write(broken, random.chance(0.5));
  await sleep(lastsMs);
  config.write(config.text(), random.chance(0.5));
  return 'config';
};

/** Invalidates all issued access tokens; they can be refreshed. */
export const tokensInvalid: Fault = async ({ environment }) => {
  await environment.guarded.control({ act: 'rotate-keys' });
  return 'guarded';
};

/** Revokes all sign-ins, until a person signs in again. */
export const tokensRevoked: Fault = async ({ environment }, { lastsMs }) => {
  await environment.guarded.control({ act: 'revoke-all' });
  await sleep(lastsMs);
  await environment.signIn();
  return 'guarded';
};

/** Fills the disk of the state folder. */
export const diskFull: Fault = async ({ environment: { disk } }, { lastsMs }) => {
  if (disk === undefined) return undefined;
  disk.fill();
  await sleep(lastsMs);
  disk.free();
  return 'state folder';
};

/** Moves the wall clock forward or back, and then corrects it. */
export const clockJump: Fault = async ({ environment: { clock, gateway } }, { random, lastsMs }) => {
  if (clock === undefined) return undefined;
  const seconds = random.pick([-20 * day, -3600, -10, 10, 3600, 20 * day]);
  clock.jump(seconds);
  // libfaketime reads the file once a second.
  const [isSeen] = await Promise.all([tellsTime(gateway.url, seconds), sleep(lastsMs + 1500)]);
  clock.jump(0);
  return isSeen ? `${seconds} s` : undefined;
};

/** Returns whether the Date header of the gateway reaches this offset from our clock. */
async function tellsTime(url: string, seconds: number): Promise<boolean> {
  const isMoved = async (): Promise<boolean> => {
    const answer = await fetch(url);
    await answer.body?.cancel();
    const toldMs = Date.parse(answer.headers.get('date') ?? '');
    return Math.abs(toldMs - Date.now() - seconds * 1000) < CLOCK_TOLERANCE_MS;
  };
  return eventually(isMoved, { withinMs: 5000 }).catch(() => false);
}

/** Smaller than the smallest jump. The header has whole seconds and may be slightly old. */
const CLOCK_TOLERANCE_MS = 4000;

/** Crashes a client with open requests and replaces it with a new one. */
export const clientLeaves: Fault = async ({ clients }, { random, lastsMs }) => {
  const client = random.pick(clients.filter(({ kind }) => kind.way !== 'alone'));
  await client.leave();
  await sleep(Math.min(lastsMs, 1000));
  await client.open();
  client.start();
  return client.kind.name;
};
