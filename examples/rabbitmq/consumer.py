#!/usr/bin/python3
"""Carries out Ksana's tasks that come through RabbitMQ (docs/rabbitmq.md). Needs pika.

usage: consumer.py amqp://USER:PASSWORD@HOST [NAME]
"""
import json
import os
import sys

import pika

NAME = sys.argv[2] if len(sys.argv) > 2 else f"consumer-{os.getpid()}"


def work(task):
    return {"sum": sum(task["payload"])}


def tell(channel, task, status, **more):
    report = {"run_id": task["run_id"], "exec_id": task["exec_id"], "worker": NAME,
              "status": status, **more}
    channel.basic_publish("", "ksana.status", json.dumps(report),
                          pika.BasicProperties(delivery_mode=2))


def on_task(channel, method, _, body):
    task = json.loads(body)
    tell(channel, task, "RUNNING")
    channel.basic_ack(method.delivery_tag)
    try:
        tell(channel, task, "COMPLETED", result=work(task))
    except Exception as error:
        tell(channel, task, "FAILED", error=f"{type(error).__name__}: {error}")


channel = pika.BlockingConnection(pika.URLParameters(sys.argv[1])).channel()
channel.confirm_delivery()
channel.basic_qos(prefetch_count=1)
channel.basic_consume("ksana.tasks", on_task)
channel.start_consuming()
