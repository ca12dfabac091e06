import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';

/** The script that a shell reads at its start. Candidates come from the program itself, so it need not be renewed. */
export async function completions(
  _options: unknown,
  { out }: CliContext,
  [shell = '']: readonly string[],
): Promise<ExitCode> {
  out.line(SCRIPTS[shell] ?? '');
  return 0;
}

const SCRIPTS: Readonly<Record<string, string>> = {
  // Candidates are quoted one by one and never expanded: names of servers can hold anything. The shell divides words at
  // colons and equals signs, the program does not: they are put together first, and only what is missing is given back.
  bash: `# Put this into ~/.bashrc:  eval "$(trunkline completions bash)"
_trunkline() {
  COMPREPLY=()
  local line word known i n=0
  local -a all=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((n > 0)) && { [[ $word == [:=]* ]] || [[ -n $word && \${all[n-1]} == *[:=] ]]; }; then
      known=\${all[n-1]}
      all[n-1]+=$word
      [[ $word == [:=]* ]] && known=\${all[n-1]}
    else
      known=''
      all[n++]=$word
    fi
  done
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    line=\${line#"$known"}
    [[ -n $line ]] || continue
    case $line in
      *=) COMPREPLY+=("$line"); compopt -o nospace 2>/dev/null ;;
      *) COMPREPLY+=("$(printf '%q' "$line")") ;;
    esac
  done < <(trunkline __complete -- "\${all[@]}" 2>/dev/null)
}
complete -o default -F _trunkline trunkline`,
  zsh: `#compdef trunkline
# Put this into ~/.zshrc, after compinit:  eval "$(trunkline completions zsh)"
_trunkline() {
  local tab=$'\\t'
  local -a lines plain open
  lines=("\${(@f)$(trunkline __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  lines=("\${(@)lines%%$tab*}")
  plain=("\${(@)\${(@)lines:#*=}:#}")
  open=("\${(@M)lines:#*=}")
  (( \${#plain} + \${#open} )) || { _files; return }
  compadd -a plain
  compadd -S '' -a open
}
compdef _trunkline trunkline`,
  fish: `# Put this into ~/.config/fish/config.fish:  trunkline completions fish | source
function __trunkline_complete
  set -l words (commandline -opc) (commandline -ct)
  trunkline __complete -- $words[2..-1] 2>/dev/null
end
complete -c trunkline -f -a '(__trunkline_complete)'
complete -c trunkline -n 'contains -- -- (commandline -opc)' -F
complete -c trunkline -l config -r -F
complete -c trunkline -l out -r -F`,
};
