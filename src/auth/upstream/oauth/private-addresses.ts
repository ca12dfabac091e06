import { BlockList, isIP } from 'node:net';

const LOOPBACK = createBlockList([
  ['127.0.0.0', 8, 'ipv4'],
  ['::1', 128, 'ipv6'],
]);

/**
 * The ranges of RFC 6890 and its successors that can lead to this machine or into a local network. Ranges for documentation are absent;
 * `caller-auth.ts` uses one of them as a stand-in for a public address.
 */
const PRIVATE = createBlockList([
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['::1', 128, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]);

/** Whether an IP address is in a private or local range. If an IPv6 address embeds an IPv4 address, checks the IPv4 address. */
export function isPrivateAddress(address: string): boolean {
  return isWithin(PRIVATE, address);
}

/** Whether the name or address can only refer to this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIP(host) !== 0 && isWithin(LOOPBACK, host);
}

function isWithin(list: BlockList, address: string): boolean {
  const [plain = ''] = address.split('%');
  const embedded = extractIpv4(plain);
  if (embedded !== undefined) return list.check(embedded, 'ipv4');
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

/** Returns the IPv4 address in `::ffff:127.0.0.1`, `::ffff:7f00:1` or `64:ff9b::7f00:1`. */
function extractIpv4(address: string): string | undefined {
  const lower = address.toLowerCase();
  const tail = /^(?:::ffff:|64:ff9b::)(.+)$/.exec(lower)?.[1];
  if (tail === undefined) return undefined;
  if (isIP(tail) === 4) return tail;
  const [, high, low] = /^([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(tail) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

function createBlockList(ranges: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix, family] of ranges) list.addSubnet(network, prefix, family);
  return list;
}
