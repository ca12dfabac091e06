import { connect } from 'node:tls';

import { AskingEnd } from './asking-end.ts';
import type { Frame } from './frame.ts';
import { greet, readGreeting } from './greeting.ts';
import { hostAndPort } from './host-and-port.ts';
import { Link } from './link.ts';
import { dialerSecurity } from './security.ts';

export interface Dialed {
  readonly end: AskingEnd;
  readonly link: Link;
}

interface DialOptions {
  /** Ids of the two replicas. */
  readonly from: string;
  readonly to: string;
  readonly address: string;
  readonly key: Buffer;
  readonly maxMessageBytes: number;
  readonly pingMs?: number | undefined;
  readonly onLost: (dialed: Dialed) => void;
}

const PATIENCE_MS = 5000;

/** Connects to a replica, which proves that it has the key and says that it is the one that is meant. */
export function dial(options: DialOptions): Promise<Dialed> {
  const { from, to, key, maxMessageBytes, onLost } = options;
  return new Promise<Dialed>((resolve, reject) => {
    const socket = connect({ ...hostAndPort(options.address), ...dialerSecurity(key) });
    const timer = setTimeout(() => link.close(new Error('It did not answer in time.')), PATIENCE_MS);
    let dialed: Dialed | undefined;
    const onFrame = (got: Frame): void => {
      if (dialed !== undefined) return dialed.end.take(got);
      const greeting = readGreeting(got);
      if ('problem' in greeting) return link.close(new Error(greeting.problem));
      if (greeting.from !== to)
        return link.close(new Error('Another gateway answers at its address by now.'));
      clearTimeout(timer);
      link.watch(options.pingMs);
      dialed = { end: new AskingEnd(link, to), link };
      resolve(dialed);
    };
    const onClosed = (error: Error): void => {
      clearTimeout(timer);
      if (dialed === undefined) return reject(error);
      onLost(dialed);
      dialed.end.lost(error);
    };
    const link = new Link({ socket, maxMessageBytes, onFrame, onClosed });
    socket.once('secureConnect', () => greet(link, { from, to }));
  });
}
