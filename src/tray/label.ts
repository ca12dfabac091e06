const LONGEST = 80;

/** Texts of servers as a line of a menu: nothing in them controls, hides or turns around what is shown. */
export function label(text: string, longest = LONGEST): string {
  const line = text
    .replaceAll(/[\s\u2028\u2029]+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .trim();
  const characters = Array.from(line);
  return characters.length <= longest ? line : `${characters.slice(0, longest - 1).join('')}…`;
}

/** `1 tool`, `2 tools`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
