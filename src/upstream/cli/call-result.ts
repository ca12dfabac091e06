import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../../model/json.ts';
import type { Captured, ProgramOutput } from './run-program.ts';

const EXIT_CODE = 'trunkline/exitCode';
const SIGNAL = 'trunkline/signal';

/** What a program wrote, as the result of a tool call; it failed when its exit code is not 0. */
export function callResult(output: ProgramOutput): JsonObject {
  const { stdout, stderr, code, signal, isFlood } = output;
  const isError = code !== 0;
  const content: JsonObject[] = [];
  if (stdout.total > 0) content.push(...shownOutput(stdout, 'standard output'));
  if (stderr.total > 0) content.push(...shownStderr(stderr));
  if (isFlood) content.push(text('[The program was ended, because it did not stop writing.]'));
  else if (isError)
    content.push(text(signal === null ? `[Exit code ${code}.]` : `[The program was ended by ${signal}.]`));
  if (content.length === 0) content.push(text('[The program ended successfully and wrote nothing.]'));
  return {
    content,
    isError,
    _meta: { ...(code !== null && { [EXIT_CODE]: code }), ...(signal !== null && { [SIGNAL]: signal }) },
  };
}

function text(value: string): JsonObject {
  return { type: 'text', text: value };
}

function shownOutput(captured: Captured, what: string): readonly JsonObject[] {
  const { bytes } = captured;
  const note = cutNote(captured, what);
  const image = imageType(bytes);
  if (image !== undefined && note === undefined)
    return [{ type: 'image', data: bytes.toString('base64'), mimeType: image }];
  const whole = note === undefined ? bytes : withoutTornEnd(bytes);
  if (whole.includes(0)) {
    const resource = {
      uri: 'cli:stdout',
      mimeType: image ?? 'application/octet-stream',
      blob: bytes.toString('base64'),
    };
    return [{ type: 'resource', resource }, ...(note === undefined ? [] : [text(note)])];
  }
  const odd = isUtf8(whole) ? [] : [text('[Some of its bytes are no UTF-8 and are shown as \uFFFD.]')];
  return [text(whole.toString('utf8')), ...odd, ...(note === undefined ? [] : [text(note)])];
}

function shownStderr(captured: Captured): readonly JsonObject[] {
  const written = withoutTornEnd(captured.bytes).toString('utf8').replaceAll('\0', '\uFFFD');
  if (written.trim() === '') return [];
  const note = cutNote(captured, 'standard error');
  return [text(`--- standard error ---\n${written}`), ...(note === undefined ? [] : [text(note)])];
}

function cutNote({ bytes, total }: Captured, what: string): string | undefined {
  if (total <= bytes.length) return undefined;
  return `[Only the first ${bytes.length} of ${total} bytes of ${what} are here.]`;
}

/** A character that the limit cut in two is left out. */
function withoutTornEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function imageType(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 12).toString('latin1');
  if (start.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png';
  if (start.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  return start.startsWith('RIFF') && start.endsWith('WEBP') ? 'image/webp' : undefined;
}
