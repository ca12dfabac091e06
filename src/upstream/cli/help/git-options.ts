const COMMITS = `
Which commits:
    -n, --max-count=<n>   show so many commits at most
    --skip=<n>            leave out so many commits at the beginning
    --since=<date>        only commits after this, such as 2026-01-31 or "2 weeks ago"
    --until=<date>        only commits before this
    --author=<pattern>    only commits whose author matches; may be repeated
    --committer=<pattern>
                          only commits whose committer matches; may be repeated
    --grep=<pattern>      only commits whose message matches; may be repeated
    --all-match           only commits whose message matches every --grep
    --invert-grep         only commits whose message matches no --grep
    -i, --regexp-ignore-case
                          match patterns in any case
    -E, --extended-regexp
                          patterns are extended regular expressions
    -F, --fixed-strings   patterns are plain text
    --merges              only merges
    --no-merges           no merges
    --first-parent        follow only the first parent of merges
    --all                 begin at all branches and tags, not only at HEAD
    --branches[=<pattern>]
                          begin at all branches, or at those that match
    --tags[=<pattern>]    begin at all tags, or at those that match
    --remotes[=<pattern>]
                          begin at all remote branches, or at those that match
    --reverse             the oldest first
    --date-order          by date, children before their parents
    --topo-order          line by line of history, children before their parents
`;

const FORMAT = `
How commits are shown:
    --oneline             one line for each commit
    --pretty[=<format>]   oneline, short, medium, full, fuller, reference, email, raw or format:<text>
    --format=<format>     the same, also as a text with placeholders such as %h %an %ad %s
    --abbrev-commit       abbreviate the names of commits
    --date=<format>       relative, local, iso, iso-strict, rfc, short, raw, human, unix or format:<text>
    --graph               draw the history at the left
    --show-signature      check signatures
    --notes[=<ref>]       show notes
    --no-notes            show no notes
`;

const CHANGES = `
How changes are shown:
    -p, --patch           show changes as a patch
    -s, --no-patch        show no changes
    -U, --unified=<n>     so many lines around each change
    --raw                 show changes in the raw format
    --stat                how many lines have changed in each file
    --numstat             the same for programs
    --shortstat           only the last line of --stat
    --summary             files that were made, removed or renamed
    --name-only           only the names of files that have changed
    --name-status         the same with what happened to each
    --diff-filter=<letters>
                          only files that were added (A), copied (C), deleted (D), modified (M) or renamed (R); small letters leave them out
    -M, --find-renames[=<n>]
                          find renamed files
    -C, --find-copies[=<n>]
                          find copied files, too
    -w, --ignore-all-space
                          ignore white space
    -b, --ignore-space-change
                          ignore how much white space there is
    --ignore-blank-lines  ignore empty lines
    --word-diff[=<mode>]  show changed words: plain, porcelain, color or none
    -W, --function-context
                          show the whole function around each change
    --full-index          show whole names of objects
    --binary              show changes of binary files, too
    -R                    swap both sides
    -S <string>           only changes in how often this text occurs
    -G <regex>            only changes with a line that matches
    --pickaxe-regex       the text of -S is a regular expression
`;

const FOLLOW = `
History of files:
    --follow              go on beyond renames; of one file only
`;

const DIFF = `
What is compared:
    --staged              the index with a commit; the same as --cached
    --exit-code           end with 1 where there are differences
    --check               complain about conflict markers and white space
`;

/** What commands of git take and none of their own help tells: it is in manual pages only, and has been the same for many years. */
export const gitOptions: Readonly<Record<string, string>> = {
  log: COMMITS + FORMAT + CHANGES + FOLLOW,
  whatchanged: COMMITS + FORMAT + CHANGES,
  show: FORMAT + CHANGES,
  diff: CHANGES + DIFF,
  shortlog: COMMITS,
};
