"""partition.py PORT SERVER-PORT: carries connections to a server of this machine; between SIGUSR1 and SIGUSR2 it carries nothing.

What is sent meanwhile has the fate that TCP gives it in a network that has come apart: it arrives late if its sender is still there or has
closed the connection in good order, as its kernel then sends it again; it is lost if the connection was reset. After SIGUSR2 a line says how much
of what clients had sent arrived late, and how much was lost.
"""
import asyncio
import signal
import sys

PORT, SERVER_PORT = int(sys.argv[1]), int(sys.argv[2])
sides = []
whole = True
late = lost = 0


class Side(asyncio.Protocol):
    def __init__(self, near=None):
        self.is_client = near is None
        self.peer, self.held, self.ended, self.transport = near, bytearray(), None, None
        sides.append(self)

    def connection_made(self, transport):
        self.transport = transport
        if self.is_client:
            transport.pause_reading()  # until there is somebody to carry it to
            asyncio.ensure_future(self.join())
        else:
            self.peer.peer = self
            self.peer.transport.resume_reading()

    async def join(self):
        try:
            await asyncio.get_running_loop().create_connection(lambda: Side(self), "127.0.0.1", SERVER_PORT)
        except OSError:
            self.transport.abort()

    def data_received(self, data):
        self.held += data
        self.carry()

    def connection_lost(self, error):
        if error and self.is_client:
            global lost
            lost += len(self.held)
        if error:
            self.held.clear()
        self.ended = "reset" if error else "closed"
        self.carry()

    def carry(self):
        if not whole or self.peer is None:
            return
        if self.held:
            self.peer.transport.write(bytes(self.held))
            self.held.clear()
        if self.ended == "closed":
            self.peer.transport.close()  # after what was written
        elif self.ended:
            self.peer.transport.abort()
        if self.ended:
            sides.remove(self)


def part():
    global whole, late, lost
    whole, late, lost = False, 0, 0
    print("parted", flush=True)


def mend():
    global whole, late
    whole = True
    late = sum(len(side.held) for side in sides if side.is_client)
    for side in list(sides):
        side.carry()
    print(f"mended: {late} bytes of clients late, {lost} lost", flush=True)


async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, part)
    loop.add_signal_handler(signal.SIGUSR2, mend)
    server = await loop.create_server(Side, "127.0.0.1", PORT)
    print("carrying", flush=True)
    await server.serve_forever()


asyncio.run(main())
