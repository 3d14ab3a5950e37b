// An agent for tasks of type mail, and a client that submits one: example.mjs [ADDRESS]
import { Agent, Client, Permanent, Retry } from './ksana.mjs';

async function mail(task) {
  const { to } = task.payload ?? {};
  if (to === undefined) throw new Permanent('there is no address'); // a retry would not help
  if (task.attempt === 1 && to.endsWith('@busy.example')) throw new Retry(30, 'it is busy');
  for (let step = 0; step < 5; step += 1) {
    task.check(); // throws if cancelled or lost; for calls: fetch(…, { signal: task.signal })
    task.progress(20 * step, `step ${step}`);
    await task.wait(0.01); // the work
  }
  task.log(`sent to ${to}`);
  return { sent_to: to };
}

const [address] = process.argv.slice(2);
if (address) {
  const client = new Client();
  const run = await client.submit('mail', { to: address }, { timeout: 60 });
  console.log((await client.wait(run.id, 60)).result);
} else {
  await new Agent({ concurrency: 4 }).handler('mail', mail).run();
}
