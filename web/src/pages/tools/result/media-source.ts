/** Image types that cannot run code. SVG is left out, because it may contain scripts. */
const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);
const AUDIO_TYPES: ReadonlySet<string> = new Set([
  'audio/wav',
  'audio/x-wav',
  'audio/mpeg',
  'audio/mp3',
  'audio/ogg',
  'audio/webm',
  'audio/flac',
  'audio/mp4',
]);
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

export interface MediaSource {
  readonly kind: 'image' | 'audio';
  readonly url: string;
}

/** Returns the data URL of an image or sound, or undefined if the type is unknown or the data is not Base64. */
export function mediaSource(data: string, mimeType: string): MediaSource | undefined {
  const type = mimeType.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  const kind = IMAGE_TYPES.has(type) ? 'image' : AUDIO_TYPES.has(type) ? 'audio' : undefined;
  if (kind === undefined || !BASE64.test(data)) return undefined;
  return { kind, url: `data:${type};base64,${data}` };
}
