import { expect, test } from 'vitest';

import { hasAuthorization, omitEmptyAuthorization } from './authorization-header.ts';

test.each(['', ' ', 'Bearer', 'Bearer ', 'bearer  ', 'Basic '])(
  'headers: omits the empty Authorization value %j',
  (value) => {
    const headers = omitEmptyAuthorization({ authorization: value, 'X-Other': '' });
    expect(headers).toEqual({ 'X-Other': '' });
    expect(hasAuthorization(headers)).toBe(false);
  },
);

test('headers: keeps any other Authorization value', () => {
  const headers = { Authorization: 'Bearer x' };
  expect(omitEmptyAuthorization(headers)).toBe(headers);
  expect(hasAuthorization(headers)).toBe(true);
});
