import { setTimeout as sleep } from 'node:timers/promises';

import { open, subjectOf, within } from './subjects.mjs';
import { noteOf } from './timeout.mjs';

const READY_WITHIN_MS = 20_000;

/**
 * Opens all subjects in `names` that speak the transport, each in its own home, and prepares them. A peer that fails is left out with a
 * note; a failure of one of ours is an error.
 */
export async function openSubjects(children, { transport, names, homeOf, prepare }) {
  const subjects = [];
  const notes = [];
  const close = () => Promise.all(subjects.map((subject) => subject.close()));
  for (const name of names) {
    const { isPeer, transports, name: title } = subjectOf(name);
    if (!transports.includes(transport)) continue;
    let subject;
    try {
      subject = await open(children, { name, transport, home: homeOf(name) });
      if (isPeer) await waitUntilReady(subject);
      await subject.guard(prepare(subject));
      subjects.push(subject);
    } catch (error) {
      await subject?.close();
      if (!isPeer) {
        await close();
        throw error;
      }
      notes.push(`${title}: left out: ${noteOf(error)}`);
    }
  }
  return { subjects, notes, close };
}

/** Peers may answer the handshake before their servers can be called. */
export async function waitUntilReady(subject, { server, withinMs = READY_WITHIN_MS } = {}) {
  const end = Date.now() + withinMs;
  const attempt = async () => {
    try {
      const params = subject.params('echo', { text: 'ready' }, server);
      const result = await subject.client.request('tools/call', params);
      return result.isError !== true && JSON.stringify(result).includes('ready');
    } catch {
      return false; // It is not ready yet.
    }
  };
  const tried = async () => {
    while (!(await attempt())) {
      if (Date.now() > end) throw new Error('it did not serve a call');
      await sleep(25);
    }
  };
  await subject.guard(within(tried(), `${subject.name} did not serve a call`, subject.running, withinMs));
}
