import { expect, test } from 'vitest';

import { isLoopbackHost, isPrivateAddress } from './private-addresses.ts';

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00::1',
  'ff02::1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::a00:1',
])('address: treats %s as private', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
  'address: treats %s as public',
  (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  },
);

test.each([
  ['localhost', true],
  ['app.localhost', true],
  ['127.0.0.53', true],
  ['[::1]', true],
  ['localhost.example.com', false],
  ['127.0.0.1.example.com', false],
  ['10.0.0.1', false],
])('address: recognises %s as loopback: %s', (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});
