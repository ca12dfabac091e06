import { isJsonObject } from '../../model/json.ts';
import type { Frame } from './frame.ts';
import type { Link } from './link.ts';

/** Of what is said on the line; gateways that speak another one do not understand each other. */
const PROTOCOL = 1;

/** What both ends say first: who they are, and the one who dials whom it means. */
export function greet(link: Link, who: { readonly from: string; readonly to?: string }): void {
  link.send(['hello', { protocol: PROTOCOL, ...who }]);
}

export type Greeting =
  | { readonly from: string; readonly to: string | undefined }
  | { readonly problem: string };

export function readGreeting({ head: [kind, said] }: Frame): Greeting {
  if (kind !== 'hello' || !isJsonObject(said)) return { problem: 'It did not greet.' };
  const { protocol, from, to } = said;
  if (protocol !== PROTOCOL)
    return { problem: `It speaks version ${String(protocol)} of the line, we speak ${PROTOCOL}.` };
  if (typeof from !== 'string') return { problem: 'It did not say who it is.' };
  return { from, to: typeof to === 'string' ? to : undefined };
}
