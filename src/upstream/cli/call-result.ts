import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../../core/json.ts';
import type { CapturedOutput, ProgramOutput } from './run-program.ts';

const EXIT_CODE = 'trunkline/exitCode';
const SIGNAL = 'trunkline/signal';

/** Converts the output of a program to the result of a tool call; an exit code other than 0 is an error. */
export function toCallResult(output: ProgramOutput): JsonObject {
  const { stdout, stderr, code, signal, isFlood } = output;
  const isError = code !== 0;
  const content: JsonObject[] = [];
  if (stdout.total > 0) content.push(...outputContent(stdout, 'standard output'));
  if (stderr.total > 0) content.push(...stderrContent(stderr));
  if (isFlood) content.push(textContent('[The program was stopped, because it wrote too much output.]'));
  else if (isError)
    content.push(
      textContent(signal === null ? `[Exit code ${code}.]` : `[The program was ended by ${signal}.]`),
    );
  if (content.length === 0) content.push(textContent('[The program succeeded and wrote no output.]'));
  return {
    content,
    isError,
    _meta: { [EXIT_CODE]: code ?? undefined, [SIGNAL]: signal ?? undefined },
  };
}

function textContent(value: string): JsonObject {
  return { type: 'text', text: value };
}

function outputContent(captured: CapturedOutput, what: string): readonly JsonObject[] {
  const { bytes } = captured;
  const note = cutNote(captured, what);
  const image = imageType(bytes);
  if (image !== undefined && note === undefined)
    return [{ type: 'image', data: bytes.toString('base64'), mimeType: image }];
  const whole = note === undefined ? bytes : dropPartialCharacter(bytes);
  if (whole.includes(0)) {
    const resource = {
      uri: 'cli:stdout',
      mimeType: image ?? 'application/octet-stream',
      blob: bytes.toString('base64'),
    };
    return [{ type: 'resource', resource }, ...(note === undefined ? [] : [textContent(note)])];
  }
  const invalidNote = isUtf8(whole)
    ? []
    : [textContent('[Some bytes of the output are not valid UTF-8 and are shown as \uFFFD.]')];
  return [
    textContent(whole.toString('utf8')),
    ...invalidNote,
    ...(note === undefined ? [] : [textContent(note)]),
  ];
}

function stderrContent(captured: CapturedOutput): readonly JsonObject[] {
  const written = dropPartialCharacter(captured.bytes).toString('utf8').replaceAll('\0', '\uFFFD');
  if (written.trim() === '') return [];
  const note = cutNote(captured, 'standard error');
  return [
    textContent(`--- standard error ---\n${written}`),
    ...(note === undefined ? [] : [textContent(note)]),
  ];
}

function cutNote({ bytes, total }: CapturedOutput, what: string): string | undefined {
  if (total <= bytes.length) return undefined;
  return `[Only the first ${bytes.length} of ${total} bytes of ${what} are shown.]`;
}

/** Removes a character that the size limit cut in two. */
function dropPartialCharacter(bytes: Buffer): Buffer {
  // In UTF-8, bytes from 0x80 to 0xBF continue a character, and higher ones start it and determine its length.
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
