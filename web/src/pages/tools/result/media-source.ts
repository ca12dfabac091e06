/** Formats that browsers only ever draw or play. Pictures that may hold scripts, such as SVG, are not among them. */
const IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);
const SOUNDS: ReadonlySet<string> = new Set([
  ...[
    'audio/wav',
    'audio/x-wav',
    'audio/mpeg',
    'audio/mp3',
    'audio/ogg',
    'audio/webm',
    'audio/flac',
    'audio/mp4',
  ],
]);
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

export interface MediaSource {
  readonly kind: 'image' | 'audio';
  readonly url: string;
}

/** Undefined where a browser should not be given it. */
export function mediaSource(data: string, mimeType: string): MediaSource | undefined {
  const type = mimeType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  const kind = IMAGES.has(type) ? 'image' : SOUNDS.has(type) ? 'audio' : undefined;
  if (kind === undefined || !BASE64.test(data)) return undefined;
  return { kind, url: `data:${type};base64,${data}` };
}
