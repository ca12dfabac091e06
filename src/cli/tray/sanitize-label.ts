/** The default maximum length of a label, in characters. */
const MAX_CHARACTERS = 80;

/** Turns text of a server into one line of a menu. Removes control and direction characters, which could hide or reverse text. */
export function sanitizeLabel(text: string, maxCharacters = MAX_CHARACTERS): string {
  const line = text
    .replaceAll(/[\s\u2028\u2029]+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .trim();
  const characters = Array.from(line);
  return characters.length <= maxCharacters ? line : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}
