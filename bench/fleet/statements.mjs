// Classifies the statements in the log of a PostgreSQL server. They are classified by content instead of time, which proves that a call caused none.

/** Statements that create a database in which every statement is logged, without its values. */
export function loggedDatabase(name) {
  const set = (setting, value) => `alter database ${name} set ${setting} = ${value}`;
  return [`create database ${name}`, set('log_statement', "'all'"), set('log_parameter_max_length', '0')];
}

const LINE = /^\S+ \S+ \S+ \[(\d+)\] (\S+) LOG: {2}(?:statement|execute [^:]*): (.*)$/;

/** Reads the statements of one database from a log whose lines begin with the time, the process and the database. */
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

/** The lock of the audit record's writer; other transactions take another one. */
const RECORD_LOCK = /^begin; select pg_advisory_xact_lock\(\d+, 2\)$/;
const BEGIN = /^begin\b/;
const END = /^(?:commit|rollback)$/;
/** A whole batch in one statement. */
const RECORDS = /^with commons as \(insert into audit_commons .* insert into tool_latency /;
const OF_RECORD = [RECORDS, /^select \* from audit_ends$/];
const BEAT = /^(?:insert into "replicas"|select .* from "replicas"|select topic, revision from changes$)/;
/** Removing expired rows, once a minute; the last use of keys and the cost of lists, at most every 30 s. */
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
 * Adds a `kind` to each statement: `record` for batches of the audit record, `beat` for heartbeats and checks for changes, `upkeep` for
 * periodic maintenance, and `other`, which no call may cause. All statements of a transaction have the same kind.
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
  // A transaction without its end is classified by its beginning.
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

/** Counts the statements of each kind, and the transactions of the audit record. */
export function countKinds(statements) {
  const count = { record: 0, batches: 0, beat: 0, upkeep: 0, other: 0 };
  for (const { kind, text } of statements) {
    count[kind]++;
    if (kind === 'record' && BEGIN.test(text)) count.batches++;
  }
  return count;
}
