// The agent of the conformance cases, in JavaScript. conformance.py describes the types.
//
// usage: agent.mjs work TENANT JOURNAL CONCURRENCY LEASE GRACE
//        agent.mjs client TENANT
import { appendFileSync, existsSync } from 'node:fs';

import { Agent, Client, Permanent, Retry, Snooze } from '../../sdk/node/ksana.mjs';

async function work(tenant, journal, concurrency, lease, grace) {
  const agent = new Agent({ worker: 'node', concurrency: Number(concurrency),
    lease: Number(lease), wait: 10, grace: Number(grace), tenant });
  const note = (...words) => appendFileSync(journal, `${words.join(' ')}\n`);
  const delay = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

  agent.handler('echo', (task) => ({ echo: task.payload, attempt: task.attempt }));
  agent.handler('flaky', async function flaky(task) {
    task.log(task.attempt === 1 ? 'about to fail' : 'fine');
    if (task.attempt === 1) throw new RangeError('the first time');
    return 'at last';
  });
  agent.handler('broken', async () => { throw new Permanent('never'); });
  agent.handler('nul', async (task) => {
    task.progress(10, 'a\0b');
    task.log('c\0d');
    while (!existsSync(task.payload.file)) await task.wait(0.02);
    throw new Permanent('e\0f');
  });
  agent.handler('after', async (task) => {
    if (task.attempt === 1) throw new Retry(0.5, 'in a moment');
  });
  agent.handler('nap', async (task) => {
    if (task.attempt === 1) throw new Snooze(0.5);
    return 'awake';
  });
  agent.handler('big', () => 'x'.repeat(2 << 20));
  agent.handler('slow', async (task) => {
    await task.wait(task.payload.seconds);
    task.check();
    return 'slow';
  });
  agent.handler('hold', async (task) => {
    task.signal.addEventListener('abort', () => {
      note(task.cancelled ? 'cancelled' : 'lost', task.id);
    });
    task.progress(40, 'page 4');
    task.log('holding');
    while (!existsSync(task.payload.file) && !task.signal.aborted) await task.wait(0.02);
    task.check();
    return 'held';
  });
  agent.handler('last', () => { process.kill(process.pid, 'SIGTERM'); return 'last'; });
  agent.handler('stubborn', async (task) => {
    note('has', task.id);
    while (!existsSync(task.payload.file)) await delay(20);
    note(task.lost ? 'lost' : 'mine', task.id);
    return 'late';
  });

  note('ready', process.pid);
  await agent.run();
  note('ended', process.pid);
  process.exit(0); // a stuck handler must not keep the process alive
}

async function client(tenant) {
  const server = new Client({ patience: 5 });
  const one = await server.submit('echo', { n: 1 }, { tenant });
  const many = await server.submitMany([0, 1, 2].map((payload) => (
    { type: 'echo', payload, tenant })));
  const later = await server.submit('echo', null, { tenant, delay: 3600 });
  await server.cancel(later.id);
  const told = { one: (await server.wait(one.id, 20)).result, many: [] };
  for (const run of many) told.many.push((await server.wait(run.id, 20)).result.echo);
  told.cancelled = (await server.get(later.id)).state;
  const waiting = await server.submit('nobody', null, { tenant });
  await server.wait(waiting.id, 0.1).catch(() => { told.waits = true; });
  await server.submit('a/b', null, { tenant, priority: 12 }).catch((error) => {
    told.refused = [error.status, error.code, error.message.includes('/priority')];
  });
  console.log(JSON.stringify(told));
}

await { work, client }[process.argv[2]](...process.argv.slice(3));
