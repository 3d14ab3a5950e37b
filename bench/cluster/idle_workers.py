"""Many idle workers in one process: each is registered, waits in a claim, and sends heartbeats."""
import asyncio
import json
import sys
import uuid

WAIT = 50           # seconds that a claim waits
HEARTBEAT = 30      # seconds


class IdleWorker:
    def __init__(self, port, number):
        self.port, self.name, self.incarnation = port, f"idle-{number}", str(uuid.uuid4())

    async def post(self, connection, path, body):
        reader, writer = connection
        content = json.dumps(body).encode()
        writer.write(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json"
                     f"\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        status, length = int(head.split()[1]), 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        text = await reader.readexactly(length)
        if status >= 400:
            raise RuntimeError(f"{path}: {status} {text[:300]}")

    async def connect(self):
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def register(self):
        connection = await self.connect()
        await self.post(connection, "/api/v1/workers",
                        {"name": self.name, "incarnation": self.incarnation, "host": "bench",
                         "version": "0", "types": ["never"], "slots": 1, "kinds": ["queue"]})
        return connection

    async def claim(self, connection):
        while True:
            await self.post(connection, "/api/v1/agent/claim",
                            {"worker": self.name, "incarnation": self.incarnation,
                             "types": ["never"], "wait": f"{WAIT}s"})

    async def beat(self, number, count):
        await asyncio.sleep(HEARTBEAT * number / count)     # spread, as those of real workers are
        connection = await self.connect()
        while True:
            await self.post(connection, f"/api/v1/workers/{self.name}/heartbeat",
                            {"incarnation": self.incarnation, "busy": 0})
            connection[1].close()
            await asyncio.sleep(HEARTBEAT)
            connection = await self.connect()


async def main(port, count):
    workers = [IdleWorker(port, number) for number in range(count)]
    connections = [await worker.register() for worker in workers]
    tasks = [asyncio.create_task(worker.claim(connection))
             for worker, connection in zip(workers, connections)]
    tasks += [asyncio.create_task(worker.beat(number, count))
              for number, worker in enumerate(workers)]
    print("ready", flush=True)
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
