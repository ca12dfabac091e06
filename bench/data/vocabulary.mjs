// Reads the word lists that the catalog is generated from: servers, domains, actions, fields and phrases.

import { readFileSync } from 'node:fs';

/** `{ servers, domains, actions, fields, shapes, commonFields, phrases, foreignServers }`, each as the text file of that name describes it. */
export function readVocabulary() {
  const { fields, shapes, commonFields } = readFields();
  return {
    servers: readServers(),
    domains: readDomains(),
    actions: readActions(),
    fields,
    shapes,
    commonFields,
    phrases: readPhrases(),
    foreignServers: readForeignServers(),
  };
}

function readServers() {
  return rowsOf('servers.txt', 7).map(([name, parts, count, naming, prose, schema, extras]) => ({
    name,
    parts: wordsOf(parts).map((part) => part.split('/')),
    count: Number(count),
    naming,
    prose,
    schema,
    extras: new Set(wordsOf(extras)),
  }));
}

function readDomains() {
  const domains = new Map();
  let domain;
  for (const line of linesOf('domains.txt')) {
    if (line.startsWith('# ')) {
      const [, key, about, home] = /^# ([\w-]+): (.+) \| (.+)$/.exec(line);
      domain = { key, about, home, remarks: [], things: [] };
      domains.set(key, domain);
    } else if (line.startsWith('! ')) domain.remarks.push(line.slice(2));
    else domain.things.push(thingOf(cellsOf(line)));
  }
  return domains;
}

function thingOf([names, actions, fields, gloss]) {
  const [one, many = `${one}s`] = names.split('/');
  const key = one.replaceAll(/\W/g, '_');
  return { key, one, many, actions: wordsOf(actions), fields: wordsOf(fields), gloss };
}

function readActions() {
  const rows = rowsOf('actions.txt', 6);
  return new Map(
    rows.map(([key, kind, takes, answer, verbs, sentences]) => [
      key,
      { key, kind, takes: wordsOf(takes), answer, verbs: wordsOf(verbs), sentences: sentences.split('; ') },
    ]),
  );
}

function readFields() {
  const lines = linesOf('fields.txt');
  const marked = (mark) =>
    lines.filter((line) => line.startsWith(mark)).map((line) => cellsOf(line.slice(2)));
  const fields = new Map(
    lines.filter((line) => /^\w/.test(line)).map((line) => [cellsOf(line)[0], fieldOf(cellsOf(line))]),
  );
  const shapes = new Map(marked('= ').map(([name, members]) => [name, membersOf(members, fields)]));
  return { fields, shapes, commonFields: marked('+ ').map(fieldOf) };
}

function fieldOf([key, type, descriptions]) {
  return { key, ...typeOf(type), descriptions: descriptions.split('; ') };
}

/** Members are separated by blanks, and the values of a choice by commas: `name kind:choice text,date is_required`. */
function membersOf(text, fields) {
  const words = wordsOf(text);
  const members = [];
  for (let at = 0; at < words.length; at++) {
    const [key, type] = words[at].split(':');
    if (type === 'choice') members.push({ key, ...typeOf(`choice ${words[++at]}`), descriptions: [] });
    else if (type !== undefined) members.push({ key, ...typeOf(type), descriptions: [] });
    else members.push(fields.get(key) ?? { key, ...typeOf('text'), descriptions: [] });
  }
  return members;
}

/** `integer 1..100 = 50` becomes `{ type: 'integer', least: 1, most: 100, initial: 50 }`. */
function typeOf(text) {
  const [declared, initial] = text.split(' = ');
  const [type, rest] = declared.split(' ');
  const read = { type };
  if (initial !== undefined) read.initial = initialValue(type, initial);
  if (type === 'choice') read.choices = rest.split(',');
  if (type === 'one' || type === 'many') read.shape = rest;
  if (rest?.includes('..')) {
    const [least, most] = rest.split('..');
    read.least = Number(least);
    if (most !== '') read.most = Number(most);
  }
  return read;
}

function initialValue(type, text) {
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'flag' ? text === 'true' : text;
}

function readPhrases() {
  const phrases = new Map();
  let sentences;
  for (const line of linesOf('phrases.txt')) {
    if (line.startsWith('# ')) phrases.set(line.slice(2), (sentences = []));
    else sentences.push(line);
  }
  return phrases;
}

function readForeignServers() {
  const servers = [];
  for (const line of linesOf('other-languages.txt')) {
    if (line.startsWith('# ')) {
      const [name, language] = cellsOf(line.slice(2));
      servers.push({ name, language, tools: [] });
    } else {
      const [name, description, parameters] = cellsOf(line);
      servers.at(-1).tools.push({ name, description, parameters: parameters.split('; ').map(pairOf) });
    }
  }
  return servers;
}

function pairOf(text) {
  const [name, ...description] = text.split(': ');
  return [name, description.join(': ')];
}

function rowsOf(file, columns) {
  return linesOf(file).map((line) => {
    const cells = cellsOf(line);
    if (cells.length !== columns) throw new Error(`${file}: "${line}" does not have ${columns} columns.`);
    return cells;
  });
}

/** The lines below the introduction, which ends with three dashes. */
function linesOf(file) {
  const [, body] = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n---\n');
  return body.split('\n').filter((line) => line !== '');
}

function cellsOf(line) {
  return line.split('|').map((cell) => cell.trim());
}

function wordsOf(text) {
  return text.split(' ').filter((word) => word !== '');
}
