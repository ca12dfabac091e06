import type { CliOption } from '../cli-command.ts';
import type { HelpSection } from './help-sections.ts';
import { readOptionSpec } from './option-spec.ts';
import type { OptionSpec } from './option-spec.ts';
import { describedShape } from './option-value.ts';
import { indentOf } from './plain-text.ts';

export const MAX_OPTIONS = 150;
const MAX_DESCRIPTION = 400;

/** Every option that is listed on lines of its own, wherever; the first of equal ones counts. */
export function readOptions(sections: readonly HelpSection[]): readonly CliOption[] {
  const found = new Map<string, CliOption>();
  for (const { title, lines } of sections) {
    if (/^usage|^examples?\b|^alias/i.test(title)) continue;
    for (const { spec, description } of listed(lines)) {
      for (const option of optionsOf(spec, description)) {
        if (found.size < MAX_OPTIONS && !found.has(option.flag)) found.set(option.flag, option);
      }
    }
  }
  return withOff([...found.values()]);
}

/** One option, or one for each long name where a usage line shows alternatives. */
export function optionsOf(spec: OptionSpec, description: string): readonly CliOption[] {
  const flag = spec.flags.find((one) => one.startsWith('--')) ?? spec.flags.at(-1);
  if (flag === undefined || isHelp(spec.flags, description)) return [];
  const text = description.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DESCRIPTION);
  const shape = spec.shape === 'switch' ? {} : describedShape(spec.shape, description);
  const isSwitch = spec.shape === 'switch';
  const no = noForm(flag);
  const isOff = spec.isNegatable || (no !== undefined && spec.flags.includes(no));
  const off = isSwitch && isOff ? (spec.takesEquals ? `${flag}=false` : no) : undefined;
  const aliases = spec.flags.filter((one) => one !== flag);
  return [
    {
      flag,
      ...(aliases.length > 0 && { aliases }),
      ...shape,
      ...(spec.takesEquals && { takesEquals: true }),
      ...(spec.isGlued && { isGlued: true }),
      ...(off !== undefined && { off }),
      description: text,
    },
  ];
}

function noForm(flag: string): string | undefined {
  return flag.startsWith('--') ? `--no-${flag.slice(2)}` : undefined;
}

/** `-h` alone is help only where the text says so: for `ls` it is something else. */
function isHelp(flags: readonly string[], description: string): boolean {
  if (flags.some((flag) => flag === '--help' || flag === '-help' || flag === '--version')) return true;
  return flags.every((flag) => /^-[hH?]$/.test(flag)) && /\bhelp\b/i.test(description);
}

/** What `--no-x` is for, where both are listed. */
function withOff(options: readonly CliOption[]): readonly CliOption[] {
  const flags = new Set(options.map(({ flag }) => flag));
  return options.map((option) => {
    const no = noForm(option.flag);
    if (option.value !== undefined || option.off !== undefined || no === undefined || !flags.has(no))
      return option;
    return { ...option, off: no };
  });
}

function* listed(lines: readonly string[]): Generator<{ spec: OptionSpec; description: string }> {
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const indent = indentOf(line);
    const spec = line.trimStart().startsWith('-') && indent <= 12 ? readOptionSpec(line.trim()) : undefined;
    // Several on one line are no list.
    if (spec === undefined || /^(?:[A-Z][\w.]* )?-[a-z]\w{2,}/.test(spec.rest)) continue;
    const description = [spec.rest];
    let isGap = false;
    for (let next = at + 1; next < lines.length && next < at + 60; next++) {
      const more = lines[next] ?? '';
      if (more === '') {
        isGap = true;
        continue;
      }
      const deep = indentOf(more);
      if (deep <= indent + (isGap ? 3 : 1) || (/^\s*-{1,2}[A-Za-z0-9]/.test(more) && deep <= 12)) break;
      if (isGap && description.length === 1 && spec.rest !== '') break;
      isGap = false;
      description.push(more.trim());
    }
    yield { spec, description: description.join('\n').trim() };
  }
}
