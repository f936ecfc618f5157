"""A host of the roster that lies: it meets the others as a host does, and then does what its MODE says until it is ended.

What it sends is made by wire.py. It says on standard output what it has done: how many parcels of which kind have left.
"""

import argparse
import collections
import math
import random
import struct
import time

import wire
import zmq
from wire import Hello, Message, Tensor

FIRST_HAND_OVER = 1 << 31  # numbers of models that are handed over begin here
PIECE = 4 << 20  # bytes: hosts.chunk_bytes


class Attacker:
    def __init__(self, options):
        self.me, self.hosts, self.clients, self.scale = options.self, options.hosts, options.clients, options.scale
        self.honest = [host for host in range(len(self.hosts)) if host != self.me]
        self.host_of = [client * len(self.hosts) // self.clients for client in range(self.clients)]
        self.own = [client for client in range(self.clients) if self.host_of[client] == self.me]
        self.victims = {host: [client for client in range(self.clients) if self.host_of[client] == host] for host in self.honest}
        self.life = time.time_ns()
        self.sequence = collections.Counter()
        self.sent = collections.Counter()
        self.edition = 0
        self.since = None  # on the clock of all processes of this machine
        self.hello_of, self.lies, self.wanted = {}, {}, []
        self.next_hello = 0.0
        self.example = None  # an honest update, and its tensors
        self.clock_error = 0  # nanoseconds
        self.ends = collections.Counter()  # of its clients, by the item's number: how often they were told
        self.open_sockets(options)

    def open_sockets(self, options):
        context = zmq.Context()
        with open(options.key, "rb") as file:
            secret = file.read(40)
        public = options.hosts[self.me][1].encode()
        self.incoming = context.socket(zmq.PULL)
        self.incoming.curve_server, self.incoming.curve_secretkey = True, secret
        self.incoming.bind(options.hosts[self.me][0])
        self.outgoing = {}
        for host in self.honest:
            socket = context.socket(zmq.PUSH)
            socket.curve_serverkey, socket.curve_publickey, socket.curve_secretkey = self.hosts[host][1].encode(), public, secret
            socket.linger, socket.sndhwm = 0, 10000
            socket.connect(self.hosts[host][0])
            self.outgoing[host] = socket

    # ---- what any host does

    def send_frame(self, to, parts, name):
        try:
            self.outgoing[to].send_multipart(parts, zmq.NOBLOCK)
            self.sent[name] += 1
        except zmq.Again:  # the other takes no more
            pass

    def send(self, to, kind, head=b"", tensors=(), **other):
        body = len(head) + sum(len(tensor.data) for tensor in tensors)
        pieces = [{}] if body <= PIECE else [dict(first=at, P=min(PIECE, body - at)) for at in range(0, body, PIECE)]
        for piece in pieces:
            self.sequence[to] += 1
            parts = wire.frame(kind, self.me, to, self.life, self.sequence[to], head, tensors, **(piece | other))
            self.send_frame(to, parts, kind)

    def say_hello(self, to, asks):
        theirs = self.hello_of.get(to)
        if theirs is None:
            return
        fields = dict(run=theirs.run, arithmetic=theirs.arithmetic, version=theirs.version, life=self.life, is_virtual=0)
        fields |= dict(since=self.since, begun=theirs.begun, came_to=0, lives=0, goes_on=None, checkpoint=0, parts=theirs.parts, edition=self.edition)
        fields |= dict(heard_life=theirs.life, heard_edition=theirs.edition, asks=asks, your_lives=0)
        fields |= self.lies
        self.send(to, wire.HELLO, Hello(**fields).write(), is_summed=True)

    def attend(self, seconds):
        """Hears the others for so long, and answers them."""
        until = time.monotonic() + seconds
        while True:
            if time.monotonic() >= self.next_hello:
                self.next_hello = time.monotonic() + 0.2
                for host in self.honest:
                    self.say_hello(host, 1)
            left = max(until - time.monotonic(), 0)
            if not self.incoming.poll(1000 * left):
                return
            arrived = time.monotonic_ns()
            read = wire.read_frame(self.incoming.recv_multipart())
            if read:
                self.hear(arrived, *read)

    def hear(self, arrived, kind, sender, life, head, tensors):
        if kind == wire.HELLO:
            hello = Hello.read(head)
            self.hello_of[sender] = hello
            if hello.since is not None and self.since is None:
                self.since = hello.since
                self.edition += 1
            if hello.asks:
                self.say_hello(sender, 0)
        elif kind == wire.CLOCK_ASK:
            wrong = self.clock_error
            self.send(sender, wire.CLOCK_ANSWER, head + struct.pack("<qq", arrived + wrong, time.monotonic_ns() + wrong))
        elif kind == wire.MESSAGE:
            message = Message.read(head)
            if message.kind == wire.UPDATE:
                self.example = message, tensors
        elif kind == wire.WANT:
            self.wanted.append((sender, *wire.read_names(head)))

    def meet(self):
        while self.since is None:
            self.attend(0.01)

    def now(self):
        """Nanoseconds of the experiment."""
        return int((time.monotonic_ns() - self.since) * self.scale)

    def tell(self, message, tensors, kind=wire.MESSAGE, **other):
        """A message to all clients of the others."""
        for host in self.honest:
            self.send(host, kind, message.to(self.victims[host]).write() if not message.deliveries else message.write(), tensors, **other)
            message.deliveries = []

    def like_others(self, sender, kind=wire.UPDATE, **fields):
        """A message that an honest client might have sent, with its tensors: to be filled with lies."""
        while self.example is None:
            self.attend(0.01)
        theirs, tensors = self.example
        fields = dict(tag=theirs.tag, sequence=theirs.sequence, epoch=theirs.epoch, by=theirs.by, sent=self.now(), bits=theirs.bits) | fields
        return Message(kind, sender, shared=theirs.shared, own_each=theirs.own_each, **fields), tensors

    def numbers(self, value):
        """Tensors like those of the others in which each number is this one."""
        code = {wire.FLOAT32: "f", wire.FLOAT64: "d"}
        return [
            Tensor(struct.pack("<" + code[tensor.scalar], value) * tensor.count, tensor.scalar) if tensor.scalar in code else tensor
            for tensor in self.example[1]
        ]


# ---- what it may do: each is called again and again, about a hundred times a second ----------------------------------


def mute(self):
    """Is there, and takes what it is sent."""


def send_numbers(value):
    def act(self):
        for client in self.own:
            self.tell(self.like_others(client, sequence=self.sent[wire.MESSAGE] + 1)[0], self.numbers(value))

    return act


def overwrite(self):
    """Models of unifications and hand-overs, from clients that are neither the hub nor the giver."""
    for client in self.own:
        for number in (*range(1, 200), *range(FIRST_HAND_OVER, FIRST_HAND_OVER + 4)):
            message, _ = self.like_others(client, wire.MODEL, sequence=number)
            self.tell(message, self.numbers(7.0))
        self.attend(0.01)


def control(self):
    """Acknowledgements of what was never sent to it, and requests as fast as it can."""
    for sequence in range(100):
        for client in self.own:
            self.tell(Message(wire.ACKNOWLEDGEMENT, client, sequence=sequence), (), wire.CONTROL)
            self.tell(Message(wire.REQUEST, client, tag=sequence), (), wire.CONTROL)


def impersonate(self):
    """In the name of clients of the others."""
    for client in range(self.clients):
        if client not in self.own:
            self.tell(self.like_others(client, sequence=1 << 20)[0], self.numbers(5.0))
            self.tell(Message(wire.REQUEST, client), (), wire.CONTROL)


def heads(self):
    """Parts of what the others will ask for, and of what they do, with heads as long as any may be."""
    for host in self.honest:
        for client in self.own:
            item = wire.CLIENT_END, host << 32 | client
            for number in (0, 1, random.randrange(65536)):
                self.send(host, wire.PAYLOAD, wire.part(item, number, 65536, bytes(random.choice((0, 60000, 1 << 20, 1 << 24)))))
        self.send(host, wire.MESSAGE, bytes(1 << 24))


def blocks(self):
    """Numbers in blocks of every size, each of which is to wait for the longest time there is."""
    for _ in range(4):
        size = 4 << random.randrange(8, 24)
        message = Message(wire.UPDATE, random.choice(self.own), sequence=self.sent[wire.MESSAGE] + 1, shared=[True, False, False])
        for host in self.honest:
            head = message.to(self.victims[host], delay=random.choice((0, 10**9, 1 << 59)), copies=random.choice((0, 255))).write()
            self.send(host, wire.MESSAGE, head, [Tensor(bytes(size))])


def begin(self):
    """Each time since another instant, by its own word."""
    self.edition += 1
    self.lies = dict(since=time.monotonic_ns() + random.choice((-(10**15), 10**17, -(1 << 59), 1 << 59)), begun=random.choice((1, self.life)))


def live(self):
    """New lives, more than there are numbers for; and messages of the last one and of the last epoch."""
    self.life += random.choice((0, 0, 0, 1))
    self.edition += 1
    self.lies = dict(life=self.life, lives=random.choice((0, 255, 65535)), your_lives=random.choice((0, 256, 65535, 65536, (1 << 32) - 1)))
    for client in self.own:
        for life, epoch in ((65535, 0), (1 << 31, 0), (0, (1 << 32) - 1), (0, (1 << 32) - 2)):
            message, _ = self.like_others(client, life=life, epoch=epoch, by=self.me + 1)
            self.tell(message, self.numbers(0.0))
    self.next_hello = 0.0


def tell_time(self):
    """Answers to questions for the time, wrong ones and many that nobody has asked."""
    self.clock_error = random.choice((10**15, -(10**15), 0, 10**9))
    for host in self.honest:
        for _ in range(60):
            wrong = random.choice((10**15, -(10**15), 0, 1 << 59))
            self.send(host, wire.CLOCK_ANSWER, struct.pack("<Qqq", random.getrandbits(64), wrong, wrong + random.choice((-(10**9), 0, 10**9))))


def place(self):
    """Messages to clients, at places and with counts that there are not."""
    most = (1 << 32) - 1
    lists = [[(most, 0, 0, 0, 0)], [(0, most, 0, 0, 0)], [(0, self.clients - 1, 255, 0, 0)], [(0, 0, 0, -1, 0)], [(0, 0, 0, 0, -(1 << 63))]]
    lists += [[(client % self.clients, client % self.clients, 255, 0, 0) for client in range(2000)], []]
    for deliveries in lists:
        for fields in ({}, dict(own_each=0), dict(own_each=255), dict(has_own=1), dict(has_own=2), dict(shared=[True] * 3)):
            message, tensors = self.like_others(random.choice(self.own))
            message.__dict__.update(fields)
            for host in self.honest:
                message.deliveries = deliveries
                self.send(host, wire.MESSAGE, message.write(), tensors)
    for host in self.honest:
        self.send(host, random.choice((9, 11, 4, 5, 6, 7, 8, wire.VIEW)), random.randbytes(random.randrange(200)))


def write_text(self):
    """Says of itself what would steer a terminal."""
    self.edition += 1
    self.lies = dict(version=b"\x1b[2J\x1b]0;owned\x07\r\n" + b"9" * 4000)


def falsify(self):
    """Frames whose headers lie."""
    lies = [dict(magic=b"ZMTP"), dict(version=3), dict(flags=255), dict(H=1 << 31), dict(T=(1 << 32) - 1), dict(first=1 << 63, P=4), dict(first=0, P=3)]
    lies += [dict(flags=0, sum=1)]
    for lie in lies:
        for host in self.honest:
            self.send(host, wire.CONTROL, b"head", **lie)
    for host in self.honest:
        self.sequence[host] += 1
        sequence = self.sequence[host]
        for sender, receiver, life in ((host, self.me, self.life), (1 << 31, host, self.life), (self.me, host, 1)):
            self.send_frame(host, wire.frame(wire.NOTICE, sender, receiver, life, sequence), "false")


def hurry(self):
    """The smallest parcels there are, as fast as it can: some are answered, some are not."""
    item = wire.CLIENT_END, 1 << 40
    small = [(wire.NOTICE, b""), (wire.CLOCK_ASK, bytes(8)), (wire.CONTROL, b""), (wire.HAVE, wire.names(1, [item])), (wire.WANT, wire.names(1, [item]))]
    for host in self.honest:
        for kind, head in small:
            self.send(host, kind, head)
        self.say_hello(host, 1)
        again = wire.frame(wire.NOTICE, self.me, host, self.life, self.sequence[host])
        for _ in range(300):
            self.send_frame(host, again, "again")


def end(self):
    """The last states of its clients: first counts that cannot be, then vectors that are not asked for, then models that are no numbers."""
    while self.wanted:
        host, _, items = self.wanted.pop()
        for kind, number in items:
            if kind != wire.CLIENT_END or self.example is None:
                continue
            self.ends[number] += 1
            most = (1 << 64) - 1 if self.ends[number] == 1 else 1000
            wrong = math.nan if self.ends[number] == 1 else 1.0
            head = struct.pack("<IBQQ", number & 0xFFFFFFFF, 1, most, most) + struct.pack("<18Q", *[most] * 18)
            head += struct.pack("<4QddQ", most, most, most, most, wrong, wrong, most)
            head += struct.pack("<9QqQQ", *[most] * 9, most >> 1, min(most, 1), most)  # exchanges in pairs
            senders = (0, self.clients, (1 << 32) - 1) if most > 1000 else (0,)
            screened = [struct.pack("<II5Qdd", sender, 0, *[most] * 5, math.nan, math.nan) for sender in senders]
            head += struct.pack("<Q", len(screened)) + b"".join(screened)
            named = struct.pack("<Q", 1) + wire.text(b"\x1b[2J,\"\r\n") + b"\1"
            none = struct.pack("<Q", 0)
            is_longer = self.ends[number] == 2  # with a vector that this run does not track
            head += none + b"\1" + struct.pack("<QQQd", most, most, most, wrong) + named + (named if is_longer else none) + none + none + b"\1"
            model = self.numbers(math.nan)[0]
            vector = Tensor(struct.pack("<d", math.nan) * model.count, wire.FLOAT64)
            tensors = [model, vector, *([vector] if is_longer else []), model]
            self.send(host, wire.PAYLOAD, wire.part((kind, number), 0, 1) + head, tensors)


ATTACKS = {
    "mute": mute,
    "sink": mute,
    "nan": send_numbers(math.nan),
    "infinite": send_numbers(math.inf),
    "huge": send_numbers(1e30),
    "overwrite": overwrite,
    "control": control,
    "impersonate": impersonate,
    "heads": heads,
    "blocks": blocks,
    "begin": begin,
    "live": live,
    "time": tell_time,
    "place": place,
    "text": write_text,
    "falsify": falsify,
    "hurry": hurry,
    "end": end,
}
BEFORE_THE_MEETING = {"begin", "text", "time"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=ATTACKS)
    parser.add_argument("--self", type=int, required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--clients", type=int, required=True)
    parser.add_argument("--scale", type=float, required=True)
    parser.add_argument("hosts", nargs="+", type=lambda text: text.split(","), help="ADDRESS,PUBLIC_KEY in the order of the roster")
    options = parser.parse_args()
    attacker = Attacker(options)
    if options.mode not in BEFORE_THE_MEETING:
        attacker.meet()
    told = time.monotonic()
    while True:
        attacker.attend(0.0 if options.mode == "hurry" else 0.01)
        ATTACKS[options.mode](attacker)
        if time.monotonic() > told + 0.5:
            told = time.monotonic()
            print(dict(attacker.sent), flush=True)


if __name__ == "__main__":
    main()
