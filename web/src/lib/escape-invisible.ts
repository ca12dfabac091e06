/** Matches one part of an emoji. An emoji may consist of several parts that are connected by joiners. */
const EMOJI_PART = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;
const INVISIBLE = String.raw`[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]`;
/** Matches a combining mark after six others. No language needs as many, and a stack of marks covers the lines above and below. */
const STACKED_MARK = String.raw`(?<=\p{M}{6})\p{M}`;
const PATTERN = new RegExp(
  String.raw`(?<kept>\n|\t|${EMOJI_PART}(?:\u200D${EMOJI_PART})*)|\r\n|${INVISIBLE}|${STACKED_MARK}`,
  'gu',
);

/**
 * Escapes characters that are invisible, change the display of other text, or cover it. Each is replaced by its code point, such as
 * `\u{200b}`. Line feeds, tabs and emojis stay.
 */
export function escapeInvisible(text: string): string {
  return replaceInvisible(text, (match) =>
    match === '\r\n' ? '\n' : `\\u{${match.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}

/** Returns the value as JSON for an input. Invisible characters are written as escapes of JSON, so that the value stays the same. */
export function stringifyVisible(value: unknown): string {
  return replaceInvisible(JSON.stringify(value, null, 2), (match) =>
    match
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Returns whether a text or name in the value contains characters that an input of one line does not show, or shows misleadingly. */
export function hasInvisible(value: unknown): boolean {
  if (typeof value === 'string') return /[\n\t]/.test(value) || escapeInvisible(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((member) => member.some(hasInvisible));
}

function replaceInvisible(text: string, escape: (match: string) => string): string {
  return text.replaceAll(PATTERN, (match: string, kept: string | undefined) =>
    kept === undefined ? escape(match) : match,
  );
}
