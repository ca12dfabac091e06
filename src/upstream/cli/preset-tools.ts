import type { CliPreset } from '../../config/config.ts';
import type { CliArgument, CliOption, CliValue } from './cli-command.ts';
import { UNKNOWN_STYLE } from './cli-command.ts';
import { finishedTool } from './tool-of-command.ts';
import type { CliTool } from './tool-of-command.ts';

/** Tools as the configuration gives them; nothing is asked of the program. */
export function presetTools(
  program: string,
  args: readonly string[],
  presets: readonly CliPreset[],
): readonly CliTool[] {
  return presets.map((preset) => {
    const endsOptions = preset.args.at(-1) === '--';
    const fixed = endsOptions ? preset.args.slice(0, -1) : preset.args;
    const options: (readonly [string, CliOption])[] = [];
    const positional: (readonly [string, CliArgument])[] = [];
    for (const [name, parameter] of Object.entries(preset.parameters)) {
      const { flag, description = '' } = parameter;
      if (flag === undefined) {
        const { required: isRequired, repeat: repeats } = parameter;
        const argument = {
          name,
          value: valueOf(parameter),
          isRequired,
          repeats,
          afterDashes: endsOptions,
          description,
        };
        positional.push([name, argument]);
      } else options.push([name, optionOf(flag, parameter)]);
    }
    const required = Object.entries(preset.parameters).flatMap(([name, { required: isNeeded }]) =>
      isNeeded ? [name] : [],
    );
    return finishedTool({
      name: preset.name,
      title: preset.title ?? preset.name,
      description: preset.description ?? `Runs ${program}.`,
      words: [...args, ...fixed],
      options,
      arguments: positional,
      required,
      children: [],
      style: UNKNOWN_STYLE,
    });
  });
}

type Parameter = CliPreset['parameters'][string];

function optionOf(flag: string, parameter: Parameter): CliOption {
  const { type, repeat, description = '' } = parameter;
  const takesEquals = flag.endsWith('=');
  return {
    flag: takesEquals ? flag.slice(0, -1) : flag,
    ...(type !== 'boolean' && { value: valueOf(parameter) }),
    ...(takesEquals && { takesEquals }),
    ...(repeat && { repeats: 'flags' as const }),
    description,
  };
}

function valueOf({ type, choices }: Parameter): CliValue {
  return { type: type === 'boolean' ? 'string' : type, ...(choices !== undefined && { choices }) };
}
