"""A Celery application over RabbitMQ with a task that does nothing but note its time.

    celery_tasks.py fill COUNT      publishes so many, with confirms; prints when it began
    celery -A celery_tasks worker   works on them

BROKER has the URL, TIMES the file to which every task appends the time as a double."""
import os
import struct
import sys
import time

from celery import Celery

app = Celery("celery_tasks", broker=os.environ["BROKER"])
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=64,
                worker_send_task_events=False, worker_redirect_stdouts=False,
                worker_hijack_root_logger=False,
                broker_transport_options={"confirm_publish": True})
times = os.open(os.environ["TIMES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


@app.task(name="nothing")
def nothing():
    os.write(times, struct.pack("d", time.monotonic()))


if __name__ == "__main__":
    with app.producer_pool.acquire(block=True) as producer:
        print(time.monotonic(), flush=True)
        for _ in range(int(sys.argv[2])):
            nothing.apply_async(producer=producer)
