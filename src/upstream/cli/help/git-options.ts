const COMMITS = `
Selection of commits:
    -n, --max-count=<n>   show at most this many commits
    --skip=<n>            skip this many commits first
    --since=<date>        only commits after this date, such as 2026-01-31 or "2 weeks ago"
    --until=<date>        only commits before this date
    --author=<pattern>    only commits whose author matches; may be repeated
    --committer=<pattern>
                          only commits whose committer matches; may be repeated
    --grep=<pattern>      only commits whose message matches; may be repeated
    --all-match           only commits whose message matches every --grep
    --invert-grep         only commits whose message matches no --grep
    -i, --regexp-ignore-case
                          ignore case when matching patterns
    -E, --extended-regexp
                          patterns are extended regular expressions
    -F, --fixed-strings   patterns are plain text
    --merges              only merges
    --no-merges           omit merges
    --first-parent        follow only the first parent of merges
    --all                 start at all branches and tags, not only at HEAD
    --branches[=<pattern>]
                          start at all branches, or at those that match
    --tags[=<pattern>]    start at all tags, or at those that match
    --remotes[=<pattern>]
                          start at all remote branches, or at those that match
    --reverse             oldest commits first
    --date-order          sort by date, children before their parents
    --topo-order          sort by branch, children before their parents
`;

const FORMAT = `
Format of commits:
    --oneline             one line for each commit
    --pretty[=<format>]   oneline, short, medium, full, fuller, reference, email, raw or format:<text>
    --format=<format>     like --pretty; also a text with placeholders such as %h %an %ad %s
    --abbrev-commit       abbreviate commit ids
    --date=<format>       relative, local, iso, iso-strict, rfc, short, raw, human, unix or format:<text>
    --graph               draw the history as a graph
    --show-signature      check signatures
    --notes[=<ref>]       show notes
    --no-notes            show no notes
`;

const CHANGES = `
Format of changes:
    -p, --patch           show changes as a patch
    -s, --no-patch        show no changes
    -U, --unified=<n>     show this many lines of context
    --raw                 show changes in the raw format
    --stat                show the number of changed lines per file
    --numstat             like --stat, in a machine-readable format
    --shortstat           only the last line of --stat
    --summary             show created, deleted and renamed files
    --name-only           show only the names of changed files
    --name-status         show the names and status of changed files
    --diff-filter=<letters>
                          only files that were added (A), copied (C), deleted (D), modified (M) or renamed (R); lower case letters exclude them
    -M, --find-renames[=<n>]
                          find renamed files
    -C, --find-copies[=<n>]
                          find copied files as well
    -w, --ignore-all-space
                          ignore white space
    -b, --ignore-space-change
                          ignore changes in the amount of white space
    --ignore-blank-lines  ignore empty lines
    --word-diff[=<mode>]  show changed words: plain, porcelain, color or none
    -W, --function-context
                          show the whole function around each change
    --full-index          show complete object ids
    --binary              show changes of binary files as well
    -R                    swap the two sides
    -S <string>           only changes that add or remove this text
    -G <regex>            only changes with a matching line
    --pickaxe-regex       the text of -S is a regular expression
`;

const FOLLOW = `
History of files:
    --follow              continue beyond renames; for a single file only
`;

const DIFF = `
Comparison:
    --staged              compare the index with a commit; the same as --cached
    --exit-code           exit with 1 if there are differences
    --check               report conflict markers and white space errors
`;

/** Options of git that only its manual pages mention, not `git COMMAND -h`. They have been stable for many years. */
export const GIT_OPTIONS: Readonly<Record<string, string>> = {
  log: COMMITS + FORMAT + CHANGES + FOLLOW,
  whatchanged: COMMITS + FORMAT + CHANGES,
  show: FORMAT + CHANGES,
  diff: CHANGES + DIFF,
  shortlog: COMMITS,
};
