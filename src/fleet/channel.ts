import type { Line } from '../wire/stdio/frame-lines.ts';
import type { Written } from '../wire/message.ts';

/** One conversation among several on a line between two replicas. */
export interface Channel {
  /** `about` is for the other end's code, `body` a text that arrives as it is. */
  say(about: unknown, body?: Written): void;
  /** The other end is told why, where there is a reason. */
  close(reason?: Error): void;
}

export interface ChannelEvents {
  said(about: unknown, body: Line): void;
  /** Called once, unless this end has closed it; a GatewayError where the other end said why. */
  closed(error: Error): void;
}
