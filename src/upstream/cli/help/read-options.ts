import type { CliOption } from '../cli-command.ts';
import type { HelpSection } from './help-sections.ts';
import { readOptionSpec } from './option-spec.ts';
import type { OptionSpec } from './option-spec.ts';
import { refineShape } from './option-value.ts';
import { indentWidth } from './plain-text.ts';

export const MAX_OPTIONS = 150;
const MAX_DESCRIPTION = 400;

/** Reads all options that are listed on their own lines, in any section. If an option has several entries, the first one is used. */
export function readOptions(sections: readonly HelpSection[]): readonly CliOption[] {
  const found = new Map<string, CliOption>();
  for (const { title, lines } of sections) {
    if (/^usage|^examples?\b|^alias/i.test(title)) continue;
    for (const { spec, description } of findOptionEntries(lines)) {
      for (const option of createOptions(spec, description)) {
        if (found.size < MAX_OPTIONS && !found.has(option.flag)) found.set(option.flag, option);
      }
    }
  }
  return linkNegations([...found.values()]);
}

/** Creates an option from its spec; returns nothing for the help and version options. */
export function createOptions(spec: OptionSpec, description: string): readonly CliOption[] {
  const flag = spec.flags.find((name) => name.startsWith('--')) ?? spec.flags.at(-1);
  if (flag === undefined || isHelpOption(spec.flags, description)) return [];
  const text = description.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DESCRIPTION);
  const shape = spec.shape === 'switch' ? {} : refineShape(spec.shape, description);
  const isSwitch = spec.shape === 'switch';
  const negated = negatedFlag(flag);
  const isNegatable = spec.isNegatable || (negated !== undefined && spec.flags.includes(negated));
  const off = isSwitch && isNegatable ? (spec.takesEquals ? `${flag}=false` : negated) : undefined;
  const aliases = spec.flags.filter((name) => name !== flag);
  return [
    {
      flag,
      aliases: aliases.length > 0 ? aliases : undefined,
      ...shape,
      takesEquals: spec.takesEquals ? true : undefined,
      isGlued: spec.isGlued ? true : undefined,
      off,
      description: text,
    },
  ];
}

function negatedFlag(flag: string): string | undefined {
  return flag.startsWith('--') ? `--no-${flag.slice(2)}` : undefined;
}

/** Returns whether this is the help or version option. A lone `-h` counts only if its description mentions help; that of `ls` does not. */
function isHelpOption(flags: readonly string[], description: string): boolean {
  if (flags.some((flag) => flag === '--help' || flag === '-help' || flag === '--version')) return true;
  return flags.every((flag) => /^-[hH?]$/.test(flag)) && /\bhelp\b/i.test(description);
}

/** Sets `off` of the switch `--x` if `--no-x` is listed, too. */
function linkNegations(options: readonly CliOption[]): readonly CliOption[] {
  const flags = new Set(options.map(({ flag }) => flag));
  return options.map((option) => {
    const off = negatedFlag(option.flag);
    if (option.value !== undefined || option.off !== undefined || off === undefined || !flags.has(off))
      return option;
    return { ...option, off };
  });
}

function* findOptionEntries(lines: readonly string[]): Generator<{ spec: OptionSpec; description: string }> {
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const indent = indentWidth(line);
    const spec = line.trimStart().startsWith('-') && indent <= 12 ? readOptionSpec(line.trim()) : undefined;
    // Several options on one line are not a list entry.
    if (spec === undefined || /^(?:[A-Z][\w.]* )?-[a-z]\w{2,}/.test(spec.rest)) continue;
    const description = [spec.rest];
    let hasGap = false;
    for (let next = index + 1; next < lines.length && next < index + 60; next++) {
      const nextLine = lines[next] ?? '';
      if (nextLine === '') {
        hasGap = true;
        continue;
      }
      const nextIndent = indentWidth(nextLine);
      if (
        nextIndent <= indent + (hasGap ? 3 : 1) ||
        (/^\s*-{1,2}[A-Za-z0-9]/.test(nextLine) && nextIndent <= 12)
      )
        break;
      if (hasGap && description.length === 1 && spec.rest !== '') break;
      hasGap = false;
      description.push(nextLine.trim());
    }
    yield { spec, description: description.join('\n').trim() };
  }
}
