import type { ArgumentRule } from '../../config/guards-config.ts';

const SHELLS = ['*shell*', '*exec*', '*command*', '*terminal*', '*bash*', 'run', 'run_*'];
const COMMANDS = ['command', 'cmd', 'commands', 'script', 'code', 'args', 'input'];
const QUERIES = ['*sql*', '*query*', 'execute*', '*statement*'];
const WRITERS = [
  '*write*',
  '*edit*',
  '*create_file*',
  '*append*',
  '*save*',
  '*move*',
  '*delete*',
  '*remove*',
];
const PATHS = ['path', 'file', 'filename', 'file_path', 'filePath', 'target', 'destination', 'dest'];

/**
 * The rules that apply if the configuration contains none. They apply only to tools that execute or write their arguments, and match
 * only arguments that are hardly ever intended. They are not a sandbox and can be circumvented.
 */
export const BUILT_IN_ARGUMENT_RULES: readonly ArgumentRule[] = [
  {
    id: 'built-in:delete-root',
    tools: SHELLS,
    arguments: COMMANDS,
    pattern: String.raw`\brm\s{1,4}(?:-[a-z-]{1,20}\s{1,4}){1,4}(?:--\s{1,4})?["']?(?:/|~|/\*|~/\*|\$home|/home|/usr|/etc|/var)/?["']?(?:\s|$|;|&|\|)`,
    message: 'Deletes everything below a system or home folder. Name the intended folder.',
  },
  {
    id: 'built-in:overwrite-disk',
    tools: SHELLS,
    arguments: COMMANDS,
    pattern: String.raw`\bmkfs(?:\.[a-z0-9]{1,8})?\s|\bdd\s[^|;]{0,80}\bof=/dev/(?:sd|nvme|hd|disk|mmcblk)|>\s{0,2}/dev/(?:sd|nvme|hd|disk)`,
    message: 'Overwrites a disk.',
  },
  {
    id: 'built-in:fork-bomb',
    tools: SHELLS,
    arguments: COMMANDS,
    pattern: String.raw`:\(\)\s{0,2}\{\s{0,2}:\s{0,2}\|\s{0,2}:`,
    message: 'Starts processes without end.',
  },
  {
    id: 'built-in:drop-database',
    tools: QUERIES,
    arguments: ['sql', 'query', 'statement', 'queries', 'command'],
    pattern: String.raw`\bdrop\s{1,4}(?:database|schema)\b`,
    message: 'Drops a whole database.',
  },
  {
    id: 'built-in:accounts-and-keys',
    tools: WRITERS,
    arguments: PATHS,
    pattern: String.raw`(?:^|[/\\])\.ssh[/\\](?:authorized_keys|id_[a-z0-9]{2,10})$|^/etc/(?:passwd|shadow|sudoers)$`,
    message: 'Changes who may sign in to this machine.',
  },
];
