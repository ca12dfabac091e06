import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';

/** Prints the script that a shell loads when it starts. The script asks the program for candidates, so it never becomes outdated. */
export async function runCompletions(
  _options: unknown,
  { out }: CliContext,
  [shell = '']: readonly string[],
): Promise<ExitCode> {
  out.line(SCRIPTS[shell] ?? '');
  return 0;
}

const SCRIPTS: Readonly<Record<string, string>> = {
  // Names of servers, tools and parameters can contain any character, and bash inserts candidates without quoting them. Therefore the
  // program receives the words as they were typed and prints each candidate with the quotes that it needs.
  bash: `# Put this into ~/.bashrc:  eval "$(trunkline completions bash)"
_trunkline() {
  COMPREPLY=()
  # Bash 4.4 and newer keep the order of the candidates.
  compopt -o nosort 2>/dev/null
  local line
  while IFS= read -r line; do
    [[ -n $line ]] || continue
    COMPREPLY+=("$line")
    [[ $line != *= ]] || compopt -o nospace 2>/dev/null
  done < <(trunkline __complete --bash="$COMP_WORDBREAKS" -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _trunkline trunkline`,
  zsh: `#compdef trunkline
# Put this into ~/.zshrc, after compinit:  eval "$(trunkline completions zsh)"
_trunkline() {
  local tab=$'\\t'
  local -a lines plain open
  lines=("\${(@f)$(trunkline __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  lines=("\${(@)lines%%$tab*}")
  plain=("\${(@)\${(@)lines:#*=}:#}")
  open=("\${(@M)lines:#*=}")
  (( \${#plain} + \${#open} )) || { _files; return }
  compadd -V trunkline -a plain
  compadd -V trunkline -S '' -a open
}
compdef _trunkline trunkline`,
  fish: `# Put this into ~/.config/fish/config.fish:  trunkline completions fish | source
function __trunkline_complete
  set -l words (commandline -opc)
  set -l current (commandline -oct)
  trunkline __complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c trunkline -f -k -a '(__trunkline_complete)'
complete -c trunkline -n 'contains -- -- (commandline -opc)' -F
complete -c trunkline -l config -r -F
complete -c trunkline -l out -r -F`,
};
