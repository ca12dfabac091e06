import { setTimeout as sleep } from 'node:timers/promises';

import { eventually } from '../../support/eventually.ts';
import type { Fault } from './fault.ts';

/** In seconds. Less than 30 days: after those every session has ended, also one that is opened while the clock is behind. */
const day = 86_400;

/** One server gets another environment, and so another process. */
export const configChange: Fault = async ({ stage }, { luck }) => {
  const { config } = stage;
  config.change({ generation: config.switches.generation + 1 }, luck.chance(0.5));
  return 'one';
};

/** A server is taken out and put back. */
export const configRemove: Fault = async ({ stage }, { luck, lastsMs }) => {
  stage.config.change({ hasGuest: false }, luck.chance(0.5));
  await sleep(lastsMs);
  stage.config.change({ hasGuest: true }, luck.chance(0.5));
  return 'guest';
};

/** A server comes, and goes. */
export const configAdd: Fault = async ({ stage }, { luck, lastsMs }) => {
  stage.config.change({ hasLodger: true }, luck.chance(0.5));
  await sleep(lastsMs);
  stage.config.change({ hasLodger: false }, luck.chance(0.5));
  return 'lodger';
};

/** Somebody saves half of the file, or nonsense, or nothing; and mends it. */
export const configBroken: Fault = async ({ stage: { config } }, { luck, lastsMs }) => {
  const text = config.text();
  const broken = luck.pick([text.slice(0, Math.floor(text.length / 2)), '', '{"mcpServers": 7}', 'no JSON']);
  config.write(broken, luck.chance(0.5));
  await sleep(lastsMs);
  config.write(config.text(), luck.chance(0.5));
  return 'config';
};

/** No token that was given out is good any more, but new ones can be had. */
export const tokensInvalid: Fault = async ({ stage }) => {
  await stage.guarded.control({ act: 'rotate-keys' });
  return 'guarded';
};

/** Nobody is signed in any more, until a person signs in again. */
export const tokensRevoked: Fault = async ({ stage }, { lastsMs }) => {
  await stage.guarded.control({ act: 'revoke-all' });
  await sleep(lastsMs);
  await stage.signIn();
  return 'guarded';
};

/** No byte can be written to the state folder any more. */
export const diskFull: Fault = async ({ stage: { disk } }, { lastsMs }) => {
  if (disk === undefined) return undefined;
  disk.fill();
  await sleep(lastsMs);
  disk.free();
  return 'state folder';
};

/** The time of the day is set forward or back, and again to what it is. */
export const clockJump: Fault = async ({ stage: { clock, gateway } }, { luck, lastsMs }) => {
  if (clock === undefined) return undefined;
  const seconds = luck.pick([-20 * day, -3600, -10, 10, 3600, 20 * day]);
  clock.jump(seconds);
  // The library looks for it once a second.
  const [isSeen] = await Promise.all([tellsTime(gateway.url, seconds), sleep(lastsMs + 1500)]);
  clock.jump(0);
  return isSeen ? `${seconds} s` : undefined;
};

/** Whether the time that a gateway puts on its answers comes to be so far from ours. */
async function tellsTime(url: string, seconds: number): Promise<boolean> {
  const isMoved = async (): Promise<boolean> => {
    const answer = await fetch(url);
    await answer.body?.cancel();
    const toldMs = Date.parse(answer.headers.get('date') ?? '');
    return Math.abs(toldMs - Date.now() - seconds * 1000) < CLOCK_TOLERANCE_MS;
  };
  return eventually(isMoved, { withinMs: 5000 }).catch(() => false);
}

/** Less than the smallest jump; the answer has whole seconds and may be a moment old. */
const CLOCK_TOLERANCE_MS = 4000;

/** A client crashes with requests under way, and another one comes in its place. */
export const clientLeaves: Fault = async ({ clients }, { luck, lastsMs }) => {
  const client = luck.pick(clients.filter(({ kind }) => kind.way !== 'alone'));
  await client.leave();
  await sleep(Math.min(lastsMs, 1000));
  await client.open();
  client.start();
  return client.kind.name;
};
