/** A picture may be written with joiners and selectors between its parts. */
const PART = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?`;
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]`;
const LOOKED_AT = new RegExp(String.raw`(?<kept>\n|\t|${PART}(?:\u200D${PART})*)|\r\n|${UNSEEN}`, 'gu');

/** Lines, tabs and pictures stay; whatever else does not show, or changes how other text shows, is written as its code point. */
export function visible(text: string): string {
  return text.replaceAll(LOOKED_AT, (found: string, kept: string | undefined) => {
    if (kept !== undefined) return found;
    return found === '\r\n' ? '\n' : `\\u{${found.codePointAt(0)?.toString(16) ?? ''}}`;
  });
}
