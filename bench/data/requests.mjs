import { readFileSync } from 'node:fs';

/**
 * The requests of requests.txt with the tools that answer them: `{ people, agents }`, each `[{ id, query, relevant, equivalent }]`. Several
 * servers may have such a tool; finding one of them is enough.
 */
export function readRequests(catalog) {
  const toolsByConcept = toolsByConceptOf(catalog);
  const [, body] = readFileSync(new URL('requests.txt', import.meta.url), 'utf8').split('\n---\n');
  const requests = {};
  let section;
  for (const line of body.split('\n')) {
    if (line.startsWith('# ')) requests[line.slice(2)] = section = [];
    else if (line !== '') section.push(requestOf(line, `${section.length + 1}`, toolsByConcept));
  }
  return requests;
}

function toolsByConceptOf(catalog) {
  const tools = new Map();
  for (const { name: server, concepts } of catalog)
    for (const [tool, concept] of Object.entries(concepts))
      tools.set(concept, [...(tools.get(concept) ?? []), `${server}/${tool}`]);
  return tools;
}

function requestOf(line, id, toolsByConcept) {
  const [concepts, ...query] = line.split(': ');
  const [first, ...others] = concepts.split(', ').flatMap((concept) => toolsByConcept.get(concept) ?? []);
  if (first === undefined) throw new Error(`requests.txt: no tool of the catalog is for ${concepts}.`);
  return { id, query: query.join(': '), relevant: [first], equivalent: { [first]: others } };
}
