import { BlockList, isIP } from 'node:net';

import type { ForwardedConfig } from '../../config/callers-config.ts';
import { refused } from './verdict.ts';
import type { Asked, Provider } from './verdict.ts';

const MAX_USER = 200;
const MAX_GROUPS = 200;
// What a proxy has decoded badly, or somebody has smuggled past it.
const UNFIT = /[\p{Cc}\p{Cf}\uFFFD]/u;

/** `auth.forwarded`: a proxy says who asks. Who is not that proxy is not heard, whatever the headers say. */
export function forwarded(config: ForwardedConfig): Provider {
  const proxies = networks(config.from);
  const { user: userHeader, groups: groupsHeader, profile = 'default', tier } = config;
  const ours = [userHeader, ...(groupsHeader === undefined ? [] : [groupsHeader])];
  return (asked, token) => {
    // Whoever shows something of their own is judged by that.
    if (token !== undefined || !proxies(asked.socket.remoteAddress)) return undefined;
    const doubled = ours.find((name) => countOf(asked.rawHeaders, name) > 1);
    if (doubled !== undefined)
      return refused(`The header ${doubled} is there more than once.`, { error: 'invalid_request' });
    const user = textOf(asked, userHeader);
    if (user === undefined) return undefined;
    if (user === '' || user.length > MAX_USER || UNFIT.test(user))
      return refused(`The header ${userHeader} does not name a user.`, { error: 'invalid_request' });
    const groups = groupsHeader === undefined ? [] : listOf(textOf(asked, groupsHeader) ?? '');
    if (groups === undefined)
      return refused(`The header ${groupsHeader} does not name groups.`, { error: 'invalid_request' });
    return {
      admission: {
        caller: {
          ...{ id: `user:${user}`, via: 'http', profile, groups, roles: [] },
          ...(tier !== undefined && { tier }),
        },
        isBound: config.profile !== undefined,
      },
    };
  };
}

/** Whether an address is in one of the networks; an IPv4 address in IPv6 clothes is an IPv4 address. */
export function networks(list: readonly string[]): (address: string | undefined) => boolean {
  const blocks = new BlockList();
  for (const text of list) {
    const [address = '', prefix] = text.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) blocks.addAddress(address, family);
    else blocks.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    if (address === undefined) return false;
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
    const version = isIP(plain);
    return version !== 0 && blocks.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  };
}

function textOf({ headers }: Asked, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
}

function listOf(text: string): readonly string[] | undefined {
  const parts = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  return parts.length > MAX_GROUPS || UNFIT.test(text) ? undefined : parts;
}

function countOf(raw: readonly string[], name: string): number {
  return raw.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}
