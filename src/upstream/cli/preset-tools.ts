import type { CliPreset } from '../../config/config.ts';
import type { CliArgument, CliOption, CliValue } from './cli-command.ts';
import { UNKNOWN_STYLE } from './cli-command.ts';
import { createCliTool } from './cli-tools.ts';
import type { CliTool } from './cli-tools.ts';

/** Creates the tools that the configuration defines, without running the program. */
export function createPresetTools(
  program: string,
  args: readonly string[],
  presets: readonly CliPreset[],
): readonly CliTool[] {
  return presets.map((preset) => {
    // If the fixed arguments end with `--`, `buildArgv` writes it between the options and the positional arguments.
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
          value: createValue(parameter),
          isRequired,
          repeats,
          afterDashes: endsOptions,
          description,
        };
        positional.push([name, argument]);
      } else options.push([name, createOption(flag, parameter)]);
    }
    const required = Object.entries(preset.parameters).flatMap(([name, parameter]) =>
      parameter.required ? [name] : [],
    );
    return createCliTool({
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

function createOption(flag: string, parameter: Parameter): CliOption {
  const { type, repeat, description = '' } = parameter;
  const takesEquals = flag.endsWith('=');
  return {
    flag: takesEquals ? flag.slice(0, -1) : flag,
    value: type === 'boolean' ? undefined : createValue(parameter),
    takesEquals,
    repeats: repeat ? 'flags' : undefined,
    description,
  };
}

function createValue({ type, choices }: Parameter): CliValue {
  return { type: type === 'boolean' ? 'string' : type, choices };
}
