#!/usr/bin/env python3
"""An agent for tasks of type mail, and a client that submits one: example.py [ADDRESS]"""
import logging
import sys

import ksana

agent = ksana.Agent(concurrency=4)


@agent.handler("mail")
def mail(task):
    to = task.payload.get("to")
    if to is None:
        raise ksana.Permanent("there is no address")    # a retry would not help
    if task.attempt == 1 and to.endswith("@busy.example"):
        raise ksana.Retry(after=30, message="its server is busy")
    for step in range(5):
        task.check()                                    # raises if cancelled or lost
        task.progress(20 * step, f"step {step}")
        task.wait(0.01)                                 # the work
    task.log(f"sent to {to}")
    return {"sent_to": to}


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    if len(sys.argv) > 1:
        client = ksana.Client()
        run = client.submit("mail", {"to": sys.argv[1]}, timeout=60)
        print(client.wait(run["id"], timeout=60)["result"])
    else:
        agent.run()
