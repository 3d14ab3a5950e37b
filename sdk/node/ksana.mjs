// Ksana for Node programs: submit tasks, and work on them.
//
// One file that needs nothing but Node 18 or newer: copy it. docs/agents.md describes the calls.
//
//     import { Agent, Client } from './ksana.mjs';
//
//     const client = new Client();             // KSANA_SERVER, KSANA_TOKEN_FILE or KSANA_TOKEN
//     const run = await client.submit('mail', { to: 'ada@example.com' });
//
//     const agent = new Agent({ concurrency: 4 });
//     agent.handler('mail', async (task) => {
//       await send(task.payload.to, { signal: task.signal });
//       return { sentTo: task.payload.to };
//     });
//     await agent.run();                       // until SIGTERM or SIGINT

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

const DEFAULT_SERVER = 'http://127.0.0.1:7100';
const FINAL_STATES = new Set(
  ['succeeded', 'failed', 'timed_out', 'cancelled', 'resolved', 'skipped', 'missed']);
const MAX_BEATS = 100; // heartbeats in one call
const MAX_LINES = 100; // log lines kept between two calls
const BEAT_PAUSE = 200; // ms between two heartbeats of a task with progress or log lines to send
const DRAIN_PAUSE = 2000; // mean ms without a claim after the server has announced its stop

// ---- errors

/** The server refused a request. `status` and `code` are stable; `problem` is its whole answer. */
export class KsanaError extends Error {
  constructor(message, { status = 0, problem = {}, retryAfter = 0, cause } = {}) {
    super(message, { cause });
    this.name = this.constructor.name;
    Object.assign(this, { status, problem, retryAfter, code: problem.code ?? '' });
  }

  /** Whether the same call may succeed later. */
  get mayPass() {
    return [0, 401, 403, 408, 425, 429].includes(this.status) || this.status >= 500;
  }
}

/** The server did not answer. */
export class Unreachable extends KsanaError {}

// ---- what a handler may throw; any other error is a failure that the policy retries

class Outcome extends Error {
  constructor(message) {
    super(message);
    this.name = this.constructor.name;
  }
}

/** Failed: retry as the policy says, but not before `after` seconds. */
export class Retry extends Outcome {
  constructor(after, message = 'to be tried again') {
    super(message);
    this.after = after;
  }
}

/** Failed: do not retry. */
export class Permanent extends Outcome {}

/** Not now, but after `after` seconds. Counts as no failure and uses up no retry. */
export class Snooze extends Outcome {
  constructor(after) {
    super(`snoozed for ${after}`);
    this.after = after;
  }
}

/** Gives the task back, so that another agent can take it at once. Uses up no retry. */
export class Release extends Outcome {}

/** The reason of Task.signal: a user has cancelled the task. */
export class Cancelled extends Outcome {}

/** The reason of Task.signal: the lease is lost, and another agent may have the task. */
export class LeaseLost extends Outcome {}

// ---- HTTP

/** Formats a duration for the server; numbers are seconds. */
const duration = (value) => (typeof value === 'string' ? value : `${Math.round(value * 1000)}ms`);

/** Returns a UUID of version 7: runs are listed by their ids, so these must rise with the time. */
function newId() {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Returns text of at most `most` bytes of UTF-8, without NUL, which no store accepts. */
function text(value, most) {
  const bytes = Buffer.from(String(value).replaceAll('\0', '\ufffd'));
  if (bytes.length <= most) return bytes.toString();
  let end = most;
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/** Random pauses in ms that grow to 15 seconds, so that agents do not come back all at once. */
class Backoff {
  step = 0;

  next(leastSeconds = 0) {
    this.step = Math.min(this.step + 1, 8);
    const most = Math.min(100 * 2 ** (this.step - 1), 15000);
    return Math.max(leastSeconds * 1000, most * (0.5 + Math.random() / 2));
  }

  reset() {
    this.step = 0;
  }
}

/** JSON calls. fetch keeps the connections alive. */
class Wire {
  constructor(url, token, tokenFile) {
    this.base = `${new URL(url).href.replace(/\/+$/, '')}/api/v1`;
    Object.assign(this, { url, token, tokenFile });
    this.headers(); // fails now if the token cannot be read
  }

  headers() {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
    // Read for each call: a new token needs no restart.
    const token = this.tokenFile ? readFileSync(this.tokenFile, 'utf8').trim() : this.token;
    if (token) headers.Authorization = `Bearer ${token}`;
    return headers;
  }

  /** Returns the parsed answer; null without a body. Throws KsanaError. */
  async call(method, path, body, { timeout = 30, headers = {}, signal } = {}) {
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    const timer = setTimeout(() => controller.abort(new Error('no answer')), timeout * 1000);
    try {
      const response = await fetch(this.base + path, {
        method,
        headers: { ...this.headers(), ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: controller.signal,
        redirect: 'error',
      });
      return Wire.read(response, await response.text());
    } catch (error) {
      if (error instanceof KsanaError) throw error;
      const why = error.cause?.message || error.cause?.code || error.message;
      throw new Unreachable(`${this.url}: ${why}`, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  static read(response, content) {
    let answer = null;
    try {
      if (content) answer = JSON.parse(content);
    } catch { /* not JSON: ignored */ }
    if (response.ok) return answer;
    const problem = answer ?? {};
    const faults = (problem.errors ?? []).map((fault) => `${fault.pointer}: ${fault.detail}`);
    const said = problem.detail ?? problem.title ?? response.statusText;
    throw new KsanaError([`${response.status} ${said}`, ...faults].join('; '), {
      status: response.status,
      problem,
      retryAfter: Number(response.headers.get('Retry-After')) || 0,
    });
  }
}

// ---- the client

/** Submits tasks, and reads and cancels runs. While the server is unreachable or busy, a call is
 * repeated for `patience` seconds; the server executes it once. */
export class Client {
  constructor({ url, token, tokenFile, patience = 30 } = {}) {
    const { KSANA_SERVER, KSANA_TOKEN, KSANA_TOKEN_FILE } = process.env;
    if (token === undefined && tokenFile === undefined) {
      tokenFile = KSANA_TOKEN_FILE;
      if (!tokenFile) token = KSANA_TOKEN;
    }
    this.patience = patience;
    this.wire = new Wire(url ?? (KSANA_SERVER || DEFAULT_SERVER), token, tokenFile);
  }

  async #call(method, path, body, headers) {
    const backoff = new Backoff();
    const deadline = performance.now() + this.patience * 1000;
    for (;;) {
      try {
        return await this.wire.call(method, path, body, { headers });
      } catch (error) {
        const wait = backoff.next(error.retryAfter);
        const refused = !error.mayPass || [401, 403].includes(error.status);
        if (refused || performance.now() + wait > deadline) throw error;
        await pause(wait);
      }
    }
  }

  static #task({ type, payload = null, delay, timeout, ...options }) {
    // The id is chosen here, so that the server accepts the task once, however often it is sent.
    const task = { id: newId(), type, payload, ...options };
    if (delay !== undefined) task.delay = duration(delay);
    if (timeout !== undefined) task.timeout = duration(timeout);
    return task;
  }

  /** Submits a task and returns its run. Options: tenant, creator, category, priority, start_at or
   * delay, unique, retry, timeout, need_manual, parent, selector, id. */
  submit(type, payload, options = {}) {
    return this.#call('POST', '/runs', Client.#task({ ...options, type, payload }));
  }

  /** Submits all or none of at most 10,000 tasks ({type, payload, …options}). Returns id, verdict
   * and state of each. */
  async submitMany(tasks) {
    const runs = tasks.map((task) => Client.#task(task));
    return (await this.#call('POST', '/runs/batch', { runs })).results;
  }

  get(runId) {
    return this.#call('GET', `/runs/${encodeURIComponent(runId)}`);
  }

  /** Cancels a run and returns it. A running one ends once its agent has reacted. */
  cancel(runId) {
    return this.#call('POST', `/runs/${encodeURIComponent(runId)}/cancel`, undefined,
      { 'Idempotency-Key': randomUUID() });
  }

  /** Returns the run once it is over. Throws an Error after `timeout` seconds. */
  async wait(runId, timeout = Infinity) {
    const deadline = performance.now() + timeout * 1000;
    for (let ms = 50; ; ms = Math.min(ms * 1.5, 2000)) {
      const run = await this.get(runId);
      if (FINAL_STATES.has(run.state)) return run;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`${runId} is ${run.state}`);
      await pause(Math.min(ms, left));
    }
  }
}

// ---- the agent

/** One attempt at a task, as its handler sees it. */
class Task {
  #controller = new AbortController();
  #news;
  said = {};
  lines = [];
  over = false;

  constructor(run, lease, news, stopping) {
    const now = performance.now();
    this.run = run; // the run as the server sent it
    this.id = run.run_id;
    this.execId = run.exec_id;
    Object.assign(this, { type: run.type, payload: run.payload, attempt: run.attempt });
    this.fence = run.fence;
    this.#news = news;
    /** Aborted when the agent is stopping: the handler should finish soon, or throw Release. */
    this.stopping = stopping;
    this.expires = now + (run.lease_expires_in ?? lease) * 1000;
    this.deadline = run.deadline_in ? now + run.deadline_in * 1000 : Infinity;
    this.third = (lease * 1000) / 3;
    this.beatAt = now + this.third;
  }

  /** Aborted, with Cancelled or LeaseLost as its reason, when the handler should end. */
  get signal() {
    return this.#controller.signal;
  }

  get cancelled() {
    return this.signal.reason instanceof Cancelled;
  }

  get lost() {
    return this.signal.reason instanceof LeaseLost;
  }

  /** Seconds until the attempt times out. */
  get remaining() {
    return (this.deadline - performance.now()) / 1000;
  }

  /** Throws Cancelled or LeaseLost if the handler should end. */
  check() {
    this.signal.throwIfAborted();
  }

  /** Sleeps. Resolves at once when the task is cancelled or lost. */
  wait(seconds) {
    return pause(seconds * 1000, this.signal);
  }

  progress(percent, note) {
    this.said.progress = Math.max(0, Math.min(100, Math.trunc(percent) || 0));
    if (note !== undefined) this.said.note = text(note, 1000);
    this.#news();
  }

  /** Stores a log line with the attempt. Lines are sent every 0.2 s; of more than 100, the oldest
   * are dropped. */
  log(line) {
    this.lines = [...this.lines, text(line, 2000)].slice(-MAX_LINES);
    this.#news();
  }

  end(Reason) {
    if (!this.signal.aborted) this.#controller.abort(new Reason(`${this.type} ${this.id}`));
  }

  /** Returns when the next heartbeat is due. */
  due() {
    const news = this.lines.length > 0 || Object.keys(this.said).length > 0;
    return news ? Math.min(this.beatAt, this.beatAt - this.third + BEAT_PAUSE) : this.beatAt;
  }

  takeLines() {
    const log = this.lines;
    this.lines = [];
    return log.length > 0 ? { log } : {};
  }

  beat(now) {
    const said = this.said;
    this.said = {};
    this.beatAt = now + this.third;
    return { run_id: this.id, exec_id: this.execId, outcome: 'heartbeat', ...said,
      lease: duration((this.third * 3) / 1000), ...this.takeLines() };
  }

  beatAgain(beat, when, news) {
    const { progress, note, log = [] } = news ? beat : {};
    if (progress !== undefined) this.said = { progress, ...(note && { note }), ...this.said };
    this.lines = [...log, ...this.lines].slice(-MAX_LINES);
    this.beatAt = this.due() < this.beatAt ? when + this.third : when;
  }
}

/** Fetches tasks of the types that have a handler, and runs up to `concurrency` of them at once.
 *
 * lease: seconds without a heartbeat after which the agent loses its tasks; heartbeats are sent at
 * a third of it. A handler that blocks the event loop for longer loses them, too. wait: seconds of
 * one long poll, at most 60. grace: seconds that tasks may take after stop(); then they are
 * released. `tenant`, `creator`, `categories` and `labels` restrict which tasks are fetched. */
export class Agent {
  #handlers = new Map();
  #held = new Map(); // exec_id: Task
  #stopping = new AbortController();
  #aborted = new AbortController();
  #changed = []; // resolve functions of those who wait for #held to change
  #beatTimer = null;
  #beating = false;
  #beatBackoff = new Backoff();
  #quietUntil = 0;

  constructor({ client, worker, concurrency = 1, lease = 30, wait = 20, grace = 20,
    log = console.error, ...filters } = {}) {
    if (!(concurrency >= 1 && concurrency <= 500)) {
      throw new RangeError('concurrency lies between 1 and 500');
    }
    if (!(wait >= 1 && wait <= 60 && lease >= 1)) {
      throw new RangeError('wait lies between 1 and 60 seconds, lease is at least 1');
    }
    this.client = client ?? new Client();
    this.worker = worker ?? `${hostname()}-${process.pid}`;
    Object.assign(this, { concurrency, lease, wait, grace, log, filters });
  }

  /** Registers a function that takes a Task and returns the result, or a promise of it. */
  handler(type, work) {
    this.#handlers.set(type, work);
    return this;
  }

  /** Stops fetching; run() resolves once the held tasks are over. */
  stop(grace = this.grace) {
    this.grace = grace;
    this.#stopping.abort();
    this.#wake();
  }

  /** Works until stop(), SIGTERM or SIGINT; a second signal releases the held tasks at once.
   * Rejects if the first claim is refused. */
  async run() {
    if (this.#handlers.size === 0) throw new RangeError('there is no handler');
    const onSignal = () => this.stop(this.#stopping.signal.aborted ? 0 : this.grace);
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    try {
      await this.#fetch();
      await this.#finish();
    } finally {
      this.#aborted.abort();
      clearTimeout(this.#beatTimer);
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
    }
  }

  // ---- fetching

  async #fetch() {
    const stopping = this.#stopping.signal;
    const backoff = new Backoff();
    let known = false;
    while (!stopping.aborted) {
      if (this.#held.size >= this.concurrency) {
        await this.#change();
        continue;
      }
      const quiet = this.#quietUntil - performance.now();
      if (quiet > 0) await pause(quiet, stopping);
      if (stopping.aborted) return;
      const began = performance.now();
      let runs = [];
      let wait = 0;
      try {
        runs = await this.#claim(this.concurrency - this.#held.size);
        known = true;
        // An empty answer long before the end of the poll: the server is about to stop.
        const early = performance.now() - began < this.wait * 500;
        if (runs.length === 0 && early) wait = backoff.next();
        else backoff.reset();
      } catch (error) {
        if (stopping.aborted) return;
        if (!known && (!error.mayPass || [401, 403].includes(error.status))) throw error;
        wait = backoff.next(error.retryAfter);
        this.log(`ksana: no claim, again in ${Math.round(wait)} ms: ${error.message}`);
      }
      for (const run of runs) this.#start(run);
      await pause(wait, stopping);
    }
  }

  async #claim(max) {
    const body = { worker: this.worker, types: [...this.#handlers.keys()].sort(), max,
      lease: duration(this.lease), wait: duration(this.wait), ...this.filters };
    const answer = await this.client.wire.call('POST', '/agent/claim', body,
      { timeout: this.wait + 5, signal: this.#stopping.signal });
    return answer?.runs ?? [];
  }

  #start(run) {
    const task = new Task(run, this.lease, () => this.#schedule(), this.#stopping.signal);
    this.#held.set(task.execId, task);
    this.#schedule();
    // A task that cannot be reported becomes free again when its lease ends.
    this.#work(task).catch((error) => this.log(`ksana: ${task.id}:`, error)).finally(() => {
      this.#held.delete(task.execId);
      this.#wake();
    });
  }

  /** Resolves when a held task is over, when stop() is called, or after `ms`. */
  #change(ms = 2 ** 30) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#changed.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #wake() {
    for (const resolve of this.#changed.splice(0)) resolve();
  }

  /** Waits for the held tasks during the grace period, then releases the rest. */
  async #finish() {
    const began = performance.now();
    for (;;) {
      const left = began + this.grace * 1000 - performance.now();
      if (this.#held.size === 0 || left <= 0) break;
      await this.#change(left);
    }
    const rest = [...this.#held.values()].filter((task) => !task.over);
    this.#aborted.abort();
    for (const task of rest) task.over = true;
    if (rest.length > 0) await this.#release(rest);
    const deadline = performance.now() + 5000; // for reports in flight
    while ([...this.#held.values()].some((task) => !rest.includes(task))) {
      const left = deadline - performance.now();
      if (left <= 0) break;
      await this.#change(left);
    }
  }

  async #release(tasks) {
    const backoff = new Backoff();
    const reports = tasks.map((task) => (
      { run_id: task.id, exec_id: task.execId, outcome: 'released', ...task.takeLines() }));
    for (let tries = 0; tries < 3; tries += 1) {
      try {
        await this.client.wire.call('POST', '/agent/exchange', { worker: this.worker, reports },
          { timeout: 5 });
        return;
      } catch (error) {
        this.log(`ksana: ${tasks.length} tasks are not released: ${error.message}`);
        await pause(backoff.next());
      }
    }
  }

  // ---- working

  async #work(task) {
    const [verb, body] = this.#stopping.signal.aborted ? ['release', {}]
      : await this.#outcome(task);
    if (!this.#aborted.signal.aborted) await this.#report(task, verb, body);
  }

  /** Runs the handler. Returns the verb and the body of the report. */
  async #outcome(task) {
    let failure;
    try {
      const result = await this.#handlers.get(task.type)(task);
      JSON.stringify(result); // throws if the result cannot be sent: a failure of the handler
      return ['succeed', { result: result ?? null }];
    } catch (error) {
      failure = error;
    }
    // A handler that passes the signal on ends with an AbortError; the signal's reason counts.
    if (task.signal.aborted && failure?.name === 'AbortError') failure = task.signal.reason;
    if (failure instanceof Snooze) return ['snooze', { after: duration(failure.after) }];
    if (failure instanceof Release || failure instanceof LeaseLost) return ['release', {}];
    let retry = 'default';
    if (failure instanceof Permanent || failure instanceof Cancelled) retry = 'no';
    else if (failure instanceof Retry && failure.after !== undefined) {
      retry = { after: duration(failure.after) };
    }
    const type = text(failure?.name ?? typeof failure, 200);
    const message = text(failure?.message || failure, 4000) || type;
    const stack = text(failure?.stack ?? '', 32000);
    this.log(`ksana: ${task.type} ${task.id} failed: ${message}`);
    return ['fail', { error: { type, message, stack }, retry }];
  }

  /** Sends the report until it is answered. The server accepts the same report twice. */
  async #report(task, verb, body) {
    const backoff = new Backoff();
    const aborted = this.#aborted.signal;
    task.over = true;
    let report = { exec_id: task.execId, ...body, ...task.takeLines() };
    for (;;) {
      try {
        await this.client.wire.call('POST', `/agent/runs/${task.id}/${verb}`, report);
        return;
      } catch (error) {
        if (error.mayPass) {
          await pause(backoff.next(error.retryAfter), aborted);
          if (!aborted.aborted) continue;
        } else if (verb === 'succeed' && [400, 413].includes(error.status)) {
          verb = 'fail';
          report = { exec_id: task.execId,
            error: { type: 'ResultRefused', message: text(error.message, 4000) } };
          continue;
        }
        const expected = verb === 'release' && !error.mayPass;
        if (!expected) this.log(`ksana: ${verb} of ${task.type} ${task.id}: ${error.message}`);
        return;
      }
    }
  }

  // ---- heartbeats of all held tasks, in one call

  #schedule() {
    clearTimeout(this.#beatTimer);
    if (this.#beating || this.#aborted.signal.aborted || this.#held.size === 0) return;
    const next = Math.min(...[...this.#held.values()].map((task) => task.due()));
    this.#beatTimer = setTimeout(() => this.#beat(), Math.max(0, next - performance.now()));
  }

  async #beat() {
    const now = performance.now();
    for (const task of this.#held.values()) {
      if (now > Math.min(task.expires, task.deadline)) task.end(LeaseLost);
    }
    const due = [...this.#held.values()].filter((task) => task.due() <= now).slice(0, MAX_BEATS);
    if (due.length > 0) {
      this.#beating = true;
      await this.#send(due, now);
      this.#beating = false;
    }
    this.#schedule();
  }

  async #send(tasks, now) {
    const reports = tasks.map((task) => task.beat(now));
    try {
      const answer = await this.client.wire.call('POST', '/agent/exchange',
        { worker: this.worker, reports }, { timeout: Math.max(1, this.lease / 3) });
      this.#beatBackoff.reset();
      tasks.forEach((task, place) => this.#hear(task, answer.reports[place], now));
    } catch (error) {
      this.log(`ksana: no heartbeat: ${error.message}`);
      const when = performance.now() + this.#beatBackoff.next(error.retryAfter);
      // A refused progress or log is not sent again: otherwise every heartbeat would be refused and
      // the tasks lost.
      const news = ![400, 413].includes(error.status);
      tasks.forEach((task, place) => task.beatAgain(reports[place], when, news));
    }
  }

  #hear(task, told, sent) {
    const directives = told.directives ?? [];
    if (told.verdict === 'ok') task.expires = sent + this.lease * 1000;
    else if (!task.over) task.end(LeaseLost); // else it was reported meanwhile
    if (directives.includes('cancel')) task.end(Cancelled);
    if (directives.includes('drain')) {
      this.#quietUntil = performance.now() + DRAIN_PAUSE * (0.5 + Math.random());
    }
  }
}
