// What a PostgreSQL server was asked, read from its log: not by time, so that it can be said of a call that it asked nothing.

/** What makes a database of its own whose every statement is logged, without the values in it. */
export function loggedDatabase(name) {
  const set = (setting, value) => `alter database ${name} set ${setting} = ${value}`;
  return [`create database ${name}`, set('log_statement', "'all'"), set('log_parameter_max_length', '0')];
}

const LINE = /^\S+ \S+ \S+ \[(\d+)\] (\S+) LOG: {2}(?:statement|execute [^:]*): (.*)$/;

/** The statements of one database in a log whose lines begin with the time, the process and the database; each in one line. */
export function statementsOf(log, database) {
  const statements = [];
  let current;
  for (const line of log.split('\n')) {
    if (line.startsWith('\t')) {
      if (current !== undefined) current.text += ` ${line.trim()}`;
      continue;
    }
    const [, process, of, text] = LINE.exec(line) ?? [];
    current = of === database ? { process, text } : undefined;
    if (current !== undefined) statements.push(current);
  }
  return statements;
}

/** The lock that whoever writes the record takes; other transactions take another one. */
const RECORD_LOCK = /^begin; select pg_advisory_xact_lock\(\d+, 2\)$/;
const BEGIN = /^begin\b/;
const END = /^(?:commit|rollback)$/;
/** All of a batch in one statement. */
const RECORDS = /^with commons as \(insert into audit_commons .* insert into tool_latency /;
const OF_RECORD = [RECORDS, /^select \* from audit_ends$/];
const BEAT = /^(?:insert into "replicas"|select .* from "replicas"|select topic, revision from changes$)/;
/** What is over, once a minute; when keys were last used and what lists have cost, every half at most. */
const UPKEEP = [
  /^insert into "chores"/,
  /^(?:delete from|update) "(?:client_\w+|kept_results)" .*"expires_at" <= /,
  /^delete from "client_grants" where "id" not in/,
  /^update "caller_keys" set "used_at" = \$1 where "id" = \$2$/,
  /^insert into "menu_tokens" /,
  /^select \* from "audit_ends"$/,
  /^select "seq", "at", "size", "hash" from "audit" order by "seq" limit/,
  /^delete from "audit_(?:commons|records)" where /,
  /^update "audit_ends" set/,
];

/**
 * Each statement with its `kind`: `record` for batches of it, `beat` for what tells gateways of each other and of changes, `upkeep` for
 * what is done once in a while, and `other`, which is what no call may cause. A transaction is of one kind, by all that is in it.
 */
export function withKinds(statements) {
  const open = new Map();
  const done = [];
  const finish = (members) => {
    const kind = kindOf(members.map(({ text }) => text));
    for (const member of members) member.kind = kind;
  };
  for (const statement of statements) {
    const { process, text } = statement;
    const known = { ...statement, kind: 'other' };
    done.push(known);
    if (BEGIN.test(text)) open.set(process, []);
    const members = open.get(process) ?? [];
    members.push(known);
    if (open.has(process) && !END.test(text)) continue;
    open.delete(process);
    finish(members);
  }
  for (const members of open.values()) finish(members);
  return done;
}

function kindOf([first, ...others]) {
  if (!BEGIN.test(first)) return BEAT.test(first) ? 'beat' : isUpkeep(first) ? 'upkeep' : 'other';
  const inner = others.filter((text) => !END.test(text));
  // One that has only begun is taken for what it began as.
  const isRecord =
    inner.every((text) => OF_RECORD.some((pattern) => pattern.test(text))) &&
    (inner.some(isInsert) || !isOver(others));
  if (RECORD_LOCK.test(first) && isRecord) return 'record';
  return inner.length > 0 && inner.every(isUpkeep) ? 'upkeep' : 'other';
}

function isInsert(text) {
  return RECORDS.test(text);
}

function isOver(texts) {
  return END.test(texts.at(-1) ?? '');
}

function isUpkeep(text) {
  return UPKEEP.some((pattern) => pattern.test(text));
}

/** How many there are of each kind, and how many transactions those of the record are. */
export function countKinds(statements) {
  const count = { record: 0, batches: 0, beat: 0, upkeep: 0, other: 0 };
  for (const { kind, text } of statements) {
    count[kind]++;
    if (kind === 'record' && BEGIN.test(text)) count.batches++;
  }
  return count;
}
