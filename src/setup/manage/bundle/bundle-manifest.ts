import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { EntryReader, isNonEmptyString, toStrings } from '../../import/entry-reader.ts';

/** The manifest of a bundle (`.mcpb`), reduced to what Trunkline uses. Its texts are untrusted. */
export interface BundleManifest {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly author: string;
  /** The path of the main file, relative to the bundle. */
  readonly entryPoint: string;
  /** The command with placeholders such as `${__dirname}`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly settings: readonly BundleSetting[];
}

/** A value that the bundle asks its user for (`user_config`). */
export interface BundleSetting {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly type: SettingType;
  readonly isRequired: boolean;
  readonly isSensitive: boolean;
  readonly isMultiple: boolean;
  readonly default: readonly string[] | undefined;
}

type SettingType = (typeof SETTING_TYPES)[number];

const SETTING_TYPES = ['string', 'number', 'boolean', 'directory', 'file'] as const;
const MAX_TEXT = 1000;
const MAX_SETTINGS = 100;
/** The commands of bundles that state none. */
const DEFAULT_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  node: ['node'],
  python: ['python3'],
  uv: ['uv', 'run', '--directory', '${__dirname}'],
  binary: [],
};

/** Parses `manifest.json` for a platform. Throws an error with the reason if the bundle cannot run there. */
export function parseBundleManifest(text: string, platform: NodeJS.Platform): BundleManifest {
  const root = parseManifestJson(text);
  const reader = new EntryReader(root);
  const server = reader.object('server');
  if (server === undefined) throw new Error('its manifest.json has no "server"');
  assertPlatform(root, platform);
  const serverReader = new EntryReader(server);
  const type = serverReader.text('type') ?? '';
  const defaults = Object.hasOwn(DEFAULT_COMMANDS, type) ? DEFAULT_COMMANDS[type] : undefined;
  if (defaults === undefined) throw new Error(`it has a server of the unknown type "${shorten(type)}"`);
  const entryPoint = serverReader.text('entry_point');
  if (entryPoint === undefined) throw new Error('its manifest.json has no "server.entry_point"');
  const [command = `\${__dirname}/${entryPoint}`, ...args] = defaults;
  const name = reader.text('name');
  const version = reader.text('version');
  if (name === undefined || version === undefined)
    throw new Error('its manifest.json has no "name" or no "version"');
  const launch = readLaunch(server['mcp_config'], platform);
  return {
    name: shorten(name),
    version: shorten(version),
    title: shorten(reader.text('display_name') ?? name),
    description: shorten(reader.text('description') ?? ''),
    author: shorten(new EntryReader(reader.object('author') ?? {}).text('name') ?? ''),
    entryPoint,
    command,
    args: command.startsWith('${') ? args : [...args, `\${__dirname}/${entryPoint}`],
    env: {},
    ...launch,
    settings: readSettings(root['user_config']),
  };
}

function parseManifestJson(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Error('its manifest.json is not JSON', { cause: error });
  }
  if (!isJsonObject(value)) throw new Error('its manifest.json is not an object');
  return value;
}

function assertPlatform({ compatibility }: JsonObject, platform: NodeJS.Platform): void {
  const platforms = isJsonObject(compatibility) ? toStrings(compatibility['platforms']) : [];
  if (platforms.length === 0 || platforms.includes(platform)) return;
  throw new Error(`it runs only on ${platforms.map(shorten).join(', ')}, and this is ${platform}`);
}

/** Reads the command with the changes for the platform. */
function readLaunch(
  config: unknown,
  platform: NodeJS.Platform,
): Partial<Pick<BundleManifest, 'command' | 'args' | 'env'>> {
  if (!isJsonObject(config)) return {};
  const overrides = isJsonObject(config['platform_overrides']) ? config['platform_overrides'] : {};
  const own = isJsonObject(overrides[platform]) ? overrides[platform] : {};
  const env = { ...readTexts(config['env']), ...readTexts(own['env']) };
  const { command, args } = { ...config, ...own };
  return { ...(isNonEmptyString(command) && { command, args: toStrings(args) }), env };
}

function readTexts(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])),
  );
}

function readSettings(value: unknown): readonly BundleSetting[] {
  const settings = isJsonObject(value) ? Object.entries(value).slice(0, MAX_SETTINGS) : [];
  return settings.flatMap(([key, raw]) => {
    if (!isJsonObject(raw) || !/^[\w.-]{1,100}$/.test(key)) return [];
    const reader = new EntryReader(raw);
    const type = SETTING_TYPES.find((known) => known === raw['type']) ?? 'string';
    const preset = raw['default'];
    return [
      {
        key,
        title: shorten(reader.text('title') ?? key),
        description: shorten(reader.text('description') ?? ''),
        type,
        isRequired: raw['required'] === true,
        isSensitive: raw['sensitive'] === true,
        isMultiple: raw['multiple'] === true,
        default:
          preset === undefined || preset === null
            ? undefined
            : toStrings(Array.isArray(preset) ? preset : [preset]),
      },
    ];
  });
}

function shorten(text: string): string {
  return text.slice(0, MAX_TEXT);
}
