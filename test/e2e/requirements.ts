import type { Leg } from '../support/cell.ts';

/** One checkable promise: where it comes from, what it says, and in which cells it must hold. */
export interface Requirement {
  readonly id: string;
  /** One sentence about behaviour; it is the title of the test. */
  readonly says: string;
  /** A promise of ours, or the part of the protocol's text that asks for it. */
  readonly source: 'promise' | `MCP ${string}`;
  /** How clients are connected. */
  readonly downstream: readonly Leg[];
  /** How servers are connected. */
  readonly upstream: readonly Leg[];
  /** `each`: every leg of either side occurs, in pairs across transports and eras; `every`: every pair of them. */
  readonly pairing: 'each' | 'every';
  /** Cells (`downstream → upstream`, or `*`) that do not hold yet; they run inverted and break the build when mended. */
  readonly knownFailures: Readonly<Record<string, string>>;
}

type Shape = Partial<Omit<Requirement, 'id' | 'says'>>;

const everyLeg: readonly Leg[] = ['stdio/legacy', 'http/legacy', 'http/modern', 'stdio/modern', 'sse/legacy'];
const overHttp: readonly Leg[] = ['http/legacy', 'http/modern'];
const everywhere: Shape = { downstream: everyLeg, upstream: everyLeg };
const everyClient: Shape = { downstream: everyLeg };
const everyServer: Shape = { upstream: everyLeg };
const transports = 'MCP 2025-11-25 basic/transports';
const toSessions: Shape = { upstream: ['http/legacy'], source: transports };
const withSessions: Shape = { downstream: ['http/legacy'], source: transports };

export const requirements: readonly Requirement[] = [
  // Servers that are started as children.
  says(
    'upstream:stdio:parallel-calls',
    'Fifty parallel calls answered out of order each reach their caller',
    everywhere,
  ),
  says('upstream:stdio:environment', 'A server gets few inherited variables and its own'),
  says('upstream:stdio:login-path', 'A command that only a login shell finds is found'),
  says('upstream:stdio:working-directory', 'A server is started in its cwd, relative to the config file'),
  says('upstream:stdio:stderr-in-errors', 'An error about a dead server has its last words'),
  says('upstream:stdio:noise-on-stdout', 'Lines on standard output that are no messages are skipped'),
  says('upstream:stdio:broken-framing', 'Odd chunks, strange answers and invalid UTF-8 do no harm'),
  says('upstream:stdio:huge-messages', 'A result of many megabytes passes whole', everyClient),
  says('upstream:stdio:floods-stderr', 'A server that floods standard error goes on answering'),
  says('upstream:stdio:command-not-found', 'A command that does not exist is said clearly and at once'),
  says('upstream:stdio:launcher', 'With a launcher in between, the real server ends too'),
  says('upstream:stdio:ignores-every-end', 'A server that ignores every polite end is killed'),
  says('upstream:stdio:gateway-killed', 'Servers end also when the gateway itself is killed'),

  // Servers that are reached over HTTP.
  says('upstream:http:answers', 'Answers in JSON, as a stream and compressed are all read', {
    upstream: overHttp,
    source: transports,
  }),
  says('upstream:http:session-kept', 'A session id goes with every later request', toSessions),
  says('upstream:http:session-forgotten', 'A forgotten session is opened anew for the call', toSessions),
  says('upstream:http:session-deleted', 'Closing the connection deletes the session', toSessions),
  says('upstream:http:without-sessions', 'A server that gives no session id works', {
    upstream: ['http/legacy'],
  }),
  says('upstream:http:resumes', 'A stream that breaks before the answer is resumed', toSessions),
  says('upstream:http:headers', 'Configured headers go with every request', {
    upstream: ['http/legacy', 'http/modern', 'sse/legacy'],
  }),
  says('upstream:http:param-headers', 'Arguments that a tool annotates are repeated in headers', {
    downstream: everyLeg,
    upstream: ['http/modern'],
    source: 'MCP 2026-07-28 basic/transports',
  }),
  says(
    'upstream:sse:chosen-automatically',
    'A server of the old HTTP+SSE transport is found without saying its type',
    {
      upstream: ['sse/legacy'],
    },
  ),

  // Protocol eras of servers.
  says('upstream:era:negotiated', 'Each server is spoken to in the newest era it knows', everyServer),
  says('upstream:era:remembered', 'The era of a server is not probed again after a restart'),
  says('upstream:era:exits-on-probe', 'A server that exits when probed is started again and works'),
  says('upstream:era:silent-on-probe', 'A server that is silent to a probe works soon'),
  says('upstream:era:older-versions', 'Servers of 2024-11-05, 2025-03-26 and 2025-06-18 work', {
    upstream: ['stdio/legacy', 'http/legacy'],
  }),

  // Lists and changes of servers.
  says('upstream:lists:all-pages', 'Every page of every list is followed', everyServer),
  says('upstream:lists:endless-pages', 'A list that never ends is cut, and said to be'),
  says(
    'upstream:lists:change-heard',
    'A tool that a server adds reaches the clients with an announcement',
    everywhere,
  ),
  says(
    'upstream:resources:update-heard',
    'An update of a resource reaches exactly the clients that subscribed',
    everywhere,
  ),

  // Life of a connection.
  says('lifecycle:connect:single-flight', 'Many first calls at once start one process'),
  says('lifecycle:refresh:in-parallel', 'A slow server does not delay the listing of the others'),
  says('lifecycle:refresh:bounded', 'A server that never answers is given up after its time-out'),
  says('lifecycle:backoff:no-storm', 'A server that dies at its start is not restarted without pause'),
  says('lifecycle:backoff:short-lived', 'A server that dies young is not restarted without pause'),
  says('lifecycle:crash:fails-at-once', 'A crash in a call fails that call at once and says so', everyClient),
  says('lifecycle:crash:next-call-restarts', 'The call after a crash starts the server again'),
  says('lifecycle:crash:never-replayed', 'A call that may have been executed is never sent again', {
    upstream: ['stdio/legacy', 'http/legacy'],
  }),
  says('lifecycle:mended:comes-back', 'A server that could not start works once it can'),
  says('lifecycle:idle:stops-and-comes-back', 'An unused server stops, and a call brings it back'),
  says('lifecycle:idle:never-during-a-call', 'A server is not stopped while it works on a call'),
  says('lifecycle:idle:tools-stay-listed', 'The tools of a stopped server stay listed'),
  says('lifecycle:idle:never', 'A server with idle "never" is not stopped'),

  // The catalog.
  says('catalog:warm:answers-before-any-process', 'A restart lists before any server has started'),
  says('catalog:warm:changed-entry', 'A changed entry discards its own listing and no other'),
  says('catalog:warm:removed-server', 'The tools of a server that was removed from the config are gone'),
  says('catalog:warm:no-duplicates', 'After three restarts every tool is listed once'),
  says('catalog:cold:waits-within-a-bound', 'The first list waits no longer than its bound'),
  says('catalog:cold:announces-the-rest', 'What comes after the bound is announced', everyClient),
  says('catalog:merge:failed-server', 'A server that fails keeps its last listing'),
  says('catalog:names:stable', 'The list is equal byte for byte across restarts'),
  says(
    'catalog:names:all-callable',
    'Long, odd and equal names are exposed apart from each other and all callable',
  ),
  says('catalog:changes:only-real', 'A change that changes nothing is not announced', everyClient),

  // What clients are given.
  says('downstream:era:one-endpoint', 'Clients of both eras are served at one address at the same time', {
    downstream: ['http/legacy'],
    upstream: ['stdio/legacy', 'stdio/modern'],
  }),
  says(
    'downstream:era:versions',
    'Every version from 2024-11-05 to 2025-11-25 is agreed to, an unknown one answered with ours',
    {
      downstream: ['stdio/legacy', 'http/legacy'],
      source: 'MCP 2025-11-25 basic/lifecycle',
    },
  ),
  says(
    'downstream:era:unsupported-version',
    'A modern request of an unknown version gets -32022 and the versions we know',
    {
      downstream: ['stdio/modern', 'http/modern'],
      source: 'MCP 2026-07-28 basic/versioning',
    },
  ),
  says(
    'downstream:http:sessions',
    'A missing session id gets 400, an unknown one 404, and DELETE ends a session',
    withSessions,
  ),
  says('downstream:http:host-and-origin', 'Requests of a foreign Host or Origin are refused', {
    downstream: overHttp,
    source: transports,
  }),
  says('downstream:http:health', 'The health and readiness addresses tell the truth', {
    downstream: ['http/legacy'],
  }),
  says(
    'downstream:http:bounded-sessions',
    'Sessions that are served are bounded in number and idleness, and those let go of come back',
    {
      downstream: ['http/legacy'],
    },
  ),
  says('downstream:http:slow-consumer', 'A client that does not read holds up nobody else', {
    downstream: ['http/legacy'],
  }),
  says('downstream:stdio:only-messages', 'Nothing but messages is written to standard output', {
    downstream: ['stdio/legacy', 'stdio/modern'],
  }),
  says(
    'downstream:pass:content',
    'Every kind of content passes byte for byte in value, unknown fields included',
    {
      ...everywhere,
      pairing: 'every',
    },
  ),
  says('downstream:pass:definitions', 'Definitions of tools pass with every field, known or not', everywhere),
  says('downstream:pass:structured', 'Structured results pass, fitting or not', everyClient),
  says('downstream:pass:prompts', 'Prompts are listed and got', everywhere),
  says('downstream:pass:resources', 'Texts, binary resources and templates are listed and read', everywhere),
  says('downstream:pass:completions', 'Completions of prompts and templates pass', everywhere),
  says('downstream:progress:mapped', 'All progress arrives under the token of the caller', everywhere),
  says('downstream:cancel:reaches-the-server', 'Exactly the cancelled call is cancelled there', everywhere),
  says('downstream:ids:every-kind', 'String, negative and huge ids come back as sent', everyClient),
  says('downstream:ping', 'A ping is answered without any server', {
    downstream: ['stdio/legacy', 'http/legacy', 'sse/legacy'],
    source: 'MCP 2025-11-25 basic/utilities/ping',
  }),
  says('downstream:errors:invalid-json', 'Invalid JSON gets -32700 and the connection lives', everyClient),
  says('downstream:errors:unknown-method', 'An unknown method gets -32601', everyClient),
  says('downstream:errors:unknown-tool', 'An unknown tool gets -32602 with names that are near', everyClient),
  says('downstream:errors:of-servers', 'Errors of a server pass as they came', {
    ...everywhere,
    pairing: 'every',
  }),

  says('downstream:errors:of-the-hop', 'What a server has against our way of asking is not passed on', {
    downstream: everyLeg,
    upstream: ['stdio/modern', 'http/modern'],
    source: 'MCP 2026-07-28 basic',
  }),
  says('downstream:http:param-headers', 'A call whose headers contradict its arguments is refused', {
    downstream: ['http/modern'],
    upstream: everyLeg,
    source: 'MCP 2026-07-28 basic/transports',
  }),

  // One server alone, at a path of its own.
  says('single:lists', 'A server alone is listed under its own names, in its own order, without the others', {
    downstream: overHttp,
    upstream: everyLeg,
  }),
  says('single:calls', 'Everything that a server alone offers answers under its own name', {
    downstream: overHttp,
    upstream: everyLeg,
  }),
  says('single:introduction', 'A server alone introduces itself in its own words', {
    downstream: overHttp,
    upstream: everyLeg,
  }),
  says('single:changes', 'A client of one server hears of changes of that server only', {
    downstream: overHttp,
    upstream: everyLeg,
  }),
  says('single:elsewhere', 'Other paths are not found, and a session counts only where it was opened', {
    downstream: ['http/legacy'],
  }),

  says('single:passes', 'What nobody else knows passes to a server alone and back, with its errors', {
    downstream: overHttp,
    upstream: ['stdio/legacy', 'http/legacy', 'stdio/modern', 'http/modern'],
  }),
  says('single:undeclared', 'What a server alone has not declared it refuses in its own words', {
    downstream: overHttp,
    upstream: ['stdio/legacy', 'http/legacy', 'stdio/modern', 'http/modern'],
  }),
  says('single:notifications', 'Notifications that nobody else knows pass to a server alone and back', {
    downstream: ['http/legacy'],
  }),
  says('single:hidden', 'A tool that the config hides cannot be called at the path of its server either', {
    downstream: overHttp,
  }),
  says('single:tasks', 'Tasks of a server alone are followed by the caller who began them', {
    downstream: ['http/legacy', 'http/modern'],
    upstream: ['stdio/legacy', 'stdio/modern'],
    pairing: 'every',
  }),
  says('tasks:merged', 'A task is followed at the server that works on it, by the caller who began it', {
    downstream: ['http/legacy', 'stdio/legacy'],
    upstream: ['stdio/legacy'],
  }),
  says('tasks:status', 'The status of a task reaches only the client that began it', {
    downstream: ['http/legacy'],
  }),

  says(
    'tasks:listen',
    'News of a modern task reach exactly the clients that listen to it and may follow it',
    {
      downstream: ['http/modern', 'stdio/modern'],
      upstream: ['stdio/modern', 'http/modern'],
      pairing: 'every',
    },
  ),

  // One server, wrapped.
  says('wrap:equal', 'A wrapped server answers under its own names, with what its client says of itself', {
    downstream: ['stdio/legacy', 'stdio/modern'],
    upstream: everyLeg,
  }),
  says('wrap:warm', 'A wrapped server is answered for before it has started'),
  says(
    'wrap:order',
    'Nothing is answered before the handshake of a wrapped server, whatever was asked at once',
  ),
  says('wrap:apart', 'Two wraps, two folders and two kinds of client do not mix what they remember'),
  says('wrap:news', 'A wrapped server announces changes of lists that it has, and of no others'),
  says('wrap:outside', 'What a wrapped server asks and says outside of calls reaches its client'),
  says('wrap:fails', 'A wrapped server that cannot start is reported to the client and by the exit code'),
  says('serve:server', 'Servers of the command line are served beside those of the config or instead', {
    upstream: ['stdio/legacy', 'http/legacy'],
  }),

  // Questions of servers to the person or program behind a call.
  says('questions:every-pairing', 'A question reaches the client of its call, and the answer its server', {
    downstream: everyLeg,
    upstream: everyLeg,
    pairing: 'every',
  }),
  says('questions:several', 'Several questions at once and one after the other are all answered', {
    ...everywhere,
    pairing: 'every',
  }),
  says(
    'questions:not-declared',
    'A client that cannot be asked is not asked, and the call still ends',
    everywhere,
  ),
  says('questions:not-placed', 'A question that could belong to two clients is put to neither', {
    downstream: overHttp,
  }),

  says('questions:page-done', 'That a page is finished with is told to the client that was shown it only', {
    downstream: ['http/legacy'],
  }),
  says('questions:page-first', 'A page that has to be visited first is shown in the words of the era', {
    ...everywhere,
    source: 'MCP 2025-11-25 client/elicitation',
  }),
  says('questions:page-first:refused', 'A page that cannot or shall not be shown ends the call and says so', {
    downstream: ['http/modern', 'stdio/modern'],
  }),
  says('questions:bound', 'A parked call is continued at the path where it was begun only', {
    downstream: ['http/modern'],
  }),

  says('questions:left:holds-up-nobody', 'A question whose client never comes back holds up nobody', {
    downstream: ['http/modern', 'stdio/modern'],
  }),
  says('questions:lacking', 'A call that fails for want of a capability of a modern client says which', {
    downstream: ['http/modern', 'stdio/modern'],
    upstream: everyLeg,
    source: 'MCP 2026-07-28 basic',
  }),

  // Who waits for whom.
  says('isolation:hung-server', 'A server that hangs delays only its own calls', everyClient),
  says('isolation:slow-start', 'A server that starts slowly delays only its own calls'),
  says(
    'isolation:clients',
    'A client that fills a server with calls does not hold up calls of others to other servers',
    {
      downstream: overHttp,
    },
  ),
  says('timeouts:call', 'A late call fails and its server is told', everyServer),
  says('timeouts:unlisted', 'A call to a server that was never listed ends in time as well'),
  says('timeouts:progress', 'Progress moves the time-out of a call up to its maximum'),
  says('timeouts:per-server', 'The time-out of one server does not bind another'),

  // Fifty clients of every kind at once on one shared server.
  says('routing:fifty-clients', 'Progress and log messages of fifty clients at once each reach their own', {
    downstream: ['http/legacy'],
    upstream: everyLeg,
  }),
  says(
    'routing:questions',
    'Questions to fifty clients at once each reach their own, and so do the answers',
    {
      downstream: ['http/legacy'],
      upstream: ['http/legacy', 'http/modern', 'stdio/modern'],
    },
  ),
  says('routing:updates', 'One subscription per resource tells exactly those of fifty clients that want it', {
    downstream: ['http/legacy'],
    upstream: everyLeg,
  }),
  says('routing:cancellations', 'Of fifty clients exactly those that cancel are cancelled at the server', {
    downstream: ['http/legacy'],
    upstream: everyLeg,
  }),

  // Resources that are in no list, and what tools show with them.
  says('resources:links', 'What a result links to is read where it came from, also after a reconnect', {
    ...everywhere,
  }),
  says('resources:collisions', 'Equal URIs of two servers are told apart in lists, links and reads', {
    ...everywhere,
  }),
  says(
    'resources:unknown',
    'A resource that nobody gave out is an error in the words of the era',
    everyClient,
  ),
  says('resources:binary', 'Every byte of a binary resource passes', everywhere),
  says('resources:templates', 'What fits a template is read at the server of the template', everyClient),
  says(
    'apps:direct',
    'Pages of MCP Apps are named by tools and read, told apart where two servers have the same',
    {
      ...everywhere,
    },
  ),
  says('apps:search', 'A tool that is found and described names a page that can be read', everyClient),
  says('apps:single', 'Pages of a server alone have their own URIs', {
    downstream: overHttp,
    upstream: everyLeg,
  }),

  // Clients whose limits are known.
  says(
    'shaping:names',
    'A known client gets names that it takes, and all of them can be called',
    everyClient,
  ),
  says(
    'shaping:schemas',
    'A known client gets schemas that it takes, and arguments pass as they are',
    everyClient,
  ),
  says('shaping:many-tools', 'A known client that takes fewer tools is given a search', everyClient),
  says(
    'shaping:off',
    'Unknown clients, a server alone, and all when it is switched off, get everything as it is',
    {
      downstream: overHttp,
    },
  ),
  says(
    'downstream:http:resumes',
    'A client whose stream broke gets the rest of it, and the answer',
    withSessions,
  ),

  // Tools that are found instead of listed.
  says('exposure:search:finds-and-calls', 'A tool is found, described and called', everyClient),
  says('exposure:search:results-pass', 'A result passes through the tools that call as it came', everywhere),
  says('exposure:search:questions-pass', 'A question of a tool called so reaches the client', everyClient),
  says(
    'exposure:search:wrong-tier',
    'A tool that can do more than its caller allows is not called',
    everyClient,
  ),
  says('exposure:search:bad-arguments', 'Arguments that do not fit never reach the server', everyClient),
  says('exposure:search:pinned', 'Pinned tools are listed and called under their own names', everyClient),
  says('exposure:search:reveal', 'What a search reveals is listed for that session only', {
    downstream: ['stdio/legacy', 'http/legacy', 'sse/legacy'],
  }),
  says('exposure:search:reveal-modern', 'The lists of modern clients do not depend on their searches', {
    downstream: ['http/modern', 'stdio/modern'],
  }),
  says('exposure:search:follows-the-catalog', 'What a server adds is found', everyClient),
  says(
    'exposure:search:big-results',
    'A result that is too big is answered with its beginning, and every byte of it can be read',
    everywhere,
  ),
  says(
    'exposure:search:big-results:kinds',
    'Images, structured results and errors keep what they are',
    everyClient,
  ),
  says('exposure:search:big-results:find', 'A kept result is searched by text and expression', {
    downstream: ['stdio/legacy', 'http/modern'],
  }),
  says(
    'exposure:search:big-results:bounds',
    'Kept results are bounded, expire, and can be switched off',
    everyClient,
  ),
  says(
    'exposure:search:hostile-tools',
    'Terrible tools are found, described and called in few tokens',
    everyClient,
  ),
  says('exposure:search:hostile-queries', 'Queries of any kind have a short answer at once', everyClient),
  says('exposure:search:many-tools', 'Five thousand tools of one server are searched and called', {
    upstream: ['stdio/legacy', 'http/modern'],
  }),
  says('exposure:search:encoded-arguments', 'Arguments encoded once or twice are repaired', everyClient),
  says('exposure:search:server-down', 'A search that names a server which is down says so', everyClient),
  says('exposure:search:warm', 'A restart searches before any server has started'),
  says(
    'exposure:search:usage',
    'What a caller used lately comes first among equals, if so configured',
    everyClient,
  ),
  says(
    'exposure:search:rerank',
    'An endpoint orders what was found, and its failures are seen in the log only',
  ),
  says('exposure:code:runs', 'A script finds, types and calls tools, and gets their values', everywhere),
  says('exposure:code:errors', 'Errors of tools, of names and of arguments are exceptions of a script', {
    downstream: ['stdio/legacy', 'http/modern'],
  }),
  says('exposure:code:questions', 'Questions during the calls of a script reach the client', everywhere),
  says('exposure:code:progress', 'Progress of the calls of a script reaches the client', everyClient),
  says('exposure:code:cancelled', 'A cancelled script leaves no call behind', everyClient),
  says('exposure:code:stopped', 'A script at its limit is stopped and its calls are cancelled', {
    downstream: ['stdio/legacy', 'http/modern'],
  }),
  says('exposure:code:responsive', 'Other requests are answered while a script computes', {
    downstream: ['stdio/legacy', 'http/legacy', 'http/modern'],
  }),
  says('exposure:code:big-results', 'What a script returns is kept when it is too big', {
    downstream: ['stdio/legacy', 'http/modern'],
  }),
  says('exposure:code:unlisted', 'A script calls a server that has not been listed yet'),
  says('exposure:code:shutdown', 'A script does not hold up the end of the gateway', {
    downstream: ['stdio/legacy', 'http/legacy'],
  }),
  says('exposure:auto:by-cost', 'Few tools are listed and many are searched, which the client is told', {
    downstream: everyLeg,
  }),
  says('exposure:auto:until-listed', 'Tools are searched while a server is not listed', everyClient),

  // The end.
  says('shutdown:signal', 'SIGTERM and SIGINT end the gateway and its servers with code 0', everyClient),
  says('shutdown:drains', 'A running call is answered before the gateway ends', everyClient),
  says('shutdown:deadline', 'A call that hangs does not hold up the end beyond its deadline'),
  says('shutdown:second-signal', 'A second signal ends the gateway at once'),
  says('shutdown:in-parallel', 'Many stubborn servers take no longer to end than one'),
  says(
    'shutdown:stdin-answers',
    'What was asked before standard input ended is answered, also at a first start',
    {
      downstream: ['stdio/legacy'],
    },
  ),
  says('shutdown:stdin-closed', 'The end of standard input ends the gateway and its servers', {
    downstream: ['stdio/legacy', 'stdio/modern'],
  }),

  // Configuration, as far as it needs a running gateway.
  says(
    'config:references:revealed',
    'References are revealed at the moment of use, whatever characters the values have',
  ),
  says('config:references:unset', 'An unset reference is an error that names server and field'),
  says('config:entry:bad-one', 'One bad entry is reported with its place and does not stop the others'),
  says('config:entry:tools', 'Only tools that are allowed and not denied are listed and callable'),
  says('config:file:named', 'The config file is taken before and after the command and from the environment'),

  // Real counterparts.
  says('real:sdk-clients', 'Clients of the official SDK, old and new, work through the gateway', everyClient),
  says('real:inspector', 'The command line of the MCP Inspector works through the gateway', {
    downstream: ['stdio/legacy', 'http/legacy'],
  }),
  says('real:sdk-servers', 'Servers of the official SDK, old and new, work behind the gateway', {
    upstream: ['stdio/legacy', 'stdio/modern', 'http/legacy', 'http/modern'],
  }),
  says(
    'real:reference-servers',
    'The reference servers everything, filesystem and memory work behind the gateway',
    {
      downstream: ['stdio/legacy', 'http/legacy', 'http/modern'],
      upstream: ['stdio/legacy', 'http/legacy'],
    },
  ),
];

function says(id: string, sentence: string, shape: Shape = {}): Requirement {
  const base = { source: 'promise', pairing: 'each', knownFailures: {} } as const;
  return { id, says: sentence, downstream: ['stdio/legacy'], upstream: ['stdio/legacy'], ...base, ...shape };
}
