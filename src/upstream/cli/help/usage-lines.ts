import type { HelpSection } from './help-sections.ts';
import { indentOf } from './plain-text.ts';

const MAX_USAGES = 60;
const MAX_CHARS = 4_000;

/** Each way to call that the usage shows, on one line, beginning with the program. */
export function usageLines(sections: readonly HelpSection[], program: string): readonly string[] {
  const usages: string[] = [];
  for (const { title, lines } of sections) {
    if (!/^(?:usage|synopsis)/i.test(title)) continue;
    let isOpen = false;
    let margin = 0;
    for (const line of lines) {
      const text = line.trim().replace(/^(?:or:|\$)\s*/i, '');
      if (text === '') {
        isOpen = false;
        continue;
      }
      const begins = beginsWith(text, program) || (!isOpen && usages.length === 0);
      if (begins && !(isOpen && indentOf(line) > margin + 12)) {
        usages.push(text);
        margin = indentOf(line);
        isOpen = true;
      } else if (isOpen && indentOf(line) > 0) {
        usages.push(`${usages.pop() ?? ''} ${text}`.slice(0, MAX_CHARS));
      }
      if (usages.length >= MAX_USAGES) return usages;
    }
  }
  return usages;
}

function beginsWith(text: string, program: string): boolean {
  const [first = ''] = text.split(/[\s[]/, 1);
  return first === program || first.endsWith(`/${program}`) || first.replace(/\.\w{2,4}$/, '') === program;
}
