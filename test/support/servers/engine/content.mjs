import { raw } from './raw-json.mjs';

// A 1x1 GIF and a few samples of silence: small but valid media.
export const image = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const audio = 'UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA';

/** Every content type, with annotations, `_meta`, unknown fields, and numbers that a double cannot represent. */
export function everythingContent() {
  const annotations = {
    audience: ['user', 'assistant'],
    priority: raw('0.10000000000000000555'),
    'x-mood': 'calm',
  };
  const _meta = { 'example.com/id': raw('12345678901234567890') };
  return {
    content: [
      {
        type: 'text',
        text: 'naïve \u2028 \ud83d\ude80 "quoted" \\ \u0000 end',
        annotations,
        _meta,
        'x-unknown': [null],
      },
      { type: 'image', data: image, mimeType: 'image/gif', annotations, _meta },
      { type: 'audio', data: audio, mimeType: 'audio/wav', annotations, _meta },
      {
        type: 'resource',
        resource: { uri: 'fixture://text', mimeType: 'text/plain', text: 'embedded', _meta },
        annotations,
        _meta,
      },
      { type: 'resource', resource: { uri: 'fixture://blob', mimeType: 'image/gif', blob: image } },
      {
        type: 'resource_link',
        uri: 'fixture://text',
        name: 'text',
        title: 'A text',
        description: 'A link to it.',
        mimeType: 'text/plain',
        size: 5,
        annotations,
        icons: [{ src: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=', mimeType: 'image/gif' }],
        _meta,
      },
    ],
    structuredContent: {
      beyondDouble: raw('12345678901234567890'),
      beyondRange: raw('1e400'),
      tiny: raw('1e-400'),
      negativeZero: raw('-0'),
      trailingZeros: raw('1.50'),
      exponent: raw('1E+2'),
      long: raw('3.14159265358979323846264338327950288419716939937510'),
      '': 'an empty key',
      prototype: raw('{"__proto__":{"polluted":true},"constructor":1}'),
    },
    _meta: { ..._meta, 'example.com/trace': 'kept' },
    'x-unknown': { deep: { deeper: [raw('1e400'), true] } },
  };
}
