import { expect, test } from 'vitest';

import { mediaSource } from './media-source.ts';

test('media: shows image and audio types that browsers support', () => {
  expect(mediaSource('aGk=', 'image/png')).toEqual({ kind: 'image', url: 'data:image/png;base64,aGk=' });
  expect(mediaSource('aGk=', 'Audio/WAV; rate=1')).toEqual({
    kind: 'audio',
    url: 'data:audio/wav;base64,aGk=',
  });
});

test.each([
  ['image/svg+xml', 'aGk='],
  ['text/html', 'aGk='],
  ['image/png,<script>', 'aGk='],
  ['image/png', '"><script>alert(1)</script>'],
  ['image/png', ''],
])('media: rejects %s with data %s', (mimeType, data) => {
  expect(mediaSource(data, mimeType)).toBeUndefined();
});
