"""What hosts send each other, written from docs/wire-format.md alone: nothing here was taken from Rubato's code."""

import struct

HELLO, CLOCK_ASK, CLOCK_ANSWER, MESSAGE, CONTROL, WANT, PAYLOAD, HAVE, NOTICE, VIEW = 1, 2, 3, 4, 5, 6, 7, 8, 10, 12
UPDATE, MODEL, ACKNOWLEDGEMENT, REQUEST, RESYNC = 0, 1, 2, 3, 4  # of messages and controls
FLOAT32, FLOAT64 = 0, 1
SIZES = {FLOAT32: 4, FLOAT64: 8, 2: 4}
CLIENT_END = 5  # an item

WORD = (1 << 64) - 1
K = 0x9E3779B97F4A7C15


# ---- checksums ----------------------------------------------------------------------------------------------------


def mixed(s, w):
    t = ((((s << 27) | (s >> 37)) & WORD) ^ w) * K & WORD
    return t ^ (t >> 31)


def checksum(data):
    padded = data + bytes(-len(data) % 64)
    sums, products = [0] * 8, [0] * 8
    for k, word in enumerate(struct.unpack(f"<{len(padded) // 8}Q", padded), 1):
        x = word ^ (k * K & WORD)
        lane = (k - 1) % 8
        sums[lane] += word
        products[lane] += (x & 0xFFFFFFFF) * (x >> 32)
    s = mixed(0, len(data))
    for a, b in zip(sums, products):
        s = mixed(mixed(s, a & WORD), b & WORD)
    return mixed(s, K)


# ---- frames -------------------------------------------------------------------------------------------------------


class Tensor:
    def __init__(self, data, scalar=FLOAT32):
        self.data, self.scalar = data, scalar

    @property
    def count(self):
        return len(self.data) // SIZES[self.scalar]


def frame(kind, sender, receiver, life, sequence, head=b"", tensors=(), is_summed=False, **other):
    """The parts of a parcel, of one piece unless `first` and `P` are given. `other` names fields that are to say something else."""
    body = len(head) + sum(len(tensor.data) for tensor in tensors)
    total = 0
    if is_summed:
        for stretch in (head, *(tensor.data for tensor in tensors)):
            total = mixed(total, checksum(stretch))
    said = {"magic": b"RBTF", "version": 2, "flags": 0 if is_summed else 1, "H": len(head), "T": len(tensors), "first": 0}
    said |= {"P": body, "sum": total, **other}
    header = struct.pack(
        "<4sHBBIIQQIIQQQ",
        said["magic"],
        said["version"],
        kind,
        said["flags"],
        sender,
        receiver,
        life,
        sequence,
        said["H"],
        said["T"],
        said["first"],
        said["P"],
        said["sum"],
    )
    header += b"".join(struct.pack("<QB7x", tensor.count, tensor.scalar) for tensor in tensors)
    header += struct.pack("<Q", checksum(header))
    if "first" not in other:
        return [header + head, *(tensor.data for tensor in tensors if tensor.data)]
    first, last = other["first"], other["first"] + other["P"]
    stretches, begin = [], 0
    for stretch in (head, *(tensor.data for tensor in tensors)):
        stretches.append(stretch[max(first - begin, 0) : max(last - begin, 0)])
        begin += len(stretch)
    return [header + stretches[0], *(stretch for stretch in stretches[1:] if stretch)]


def read_frame(parts):
    """Kind, sender, its life, head and tensors of a parcel of one piece; None: of several."""
    first = parts[0]
    fields = struct.unpack_from("<4sHBBIIQQIIQQQ", first)
    kind, sender, life, head_bytes, tensors, begin, piece = (fields[i] for i in (2, 4, 6, 8, 9, 10, 11))
    table = [struct.unpack_from("<QB", first, 64 + 16 * i) for i in range(tensors)]
    if begin != 0 or piece != head_bytes + sum(count * SIZES.get(scalar, 0) for count, scalar in table):
        return None
    rest = iter(parts[1:])
    read = [Tensor(next(rest) if count else b"", scalar) for count, scalar in table]
    return kind, sender, life, first[72 + 16 * tensors :], read


# ---- heads --------------------------------------------------------------------------------------------------------


class Fields:
    """A head as it is read, field after field."""

    def __init__(self, head):
        self.head, self.at = head, 0

    def take(self, code):
        value = struct.unpack_from("<" + code, self.head, self.at)
        self.at += struct.calcsize("<" + code)
        return value[0] if len(value) == 1 else value

    def text(self):
        length = self.take("Q")
        self.at += length
        return self.head[self.at - length : self.at]

    def optional(self, code):
        return self.take(code) if self.take("B") else None


def text(value):
    return struct.pack("<Q", len(value)) + value


def optional(code, value):
    return b"\0" if value is None else b"\1" + struct.pack("<" + code, value)


class Hello:
    NAMES = "run arithmetic version life is_virtual since begun came_to lives goes_on checkpoint parts edition heard_life heard_edition asks your_lives".split()

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def write(self):
        head = text(self.run) + text(self.arithmetic) + text(self.version) + struct.pack("<QB", self.life, self.is_virtual)
        head += optional("q", self.since) + struct.pack("<QqI", self.begun, self.came_to, self.lives)
        head += optional("q", self.goes_on) + struct.pack("<Q", self.checkpoint)
        head += struct.pack("<Q", len(self.parts)) + b"".join(text(key) + text(value) for key, value in self.parts)
        return head + struct.pack("<IQIBI", self.edition, self.heard_life, self.heard_edition, self.asks, self.your_lives)

    @staticmethod
    def read(head):
        fields = Fields(head)
        values = [fields.text(), fields.text(), fields.text(), *fields.take("QB"), fields.optional("q")]
        values += [*fields.take("QqI"), fields.optional("q"), fields.take("Q")]
        values += [[(fields.text(), fields.text()) for _ in range(fields.take("Q"))]]
        values += fields.take("IQIBI")
        return Hello(**dict(zip(Hello.NAMES, values)))


class Message:
    """A message or control: what it says of itself, to whom, and how many tensors it shares with all its receivers."""

    def __init__(self, kind, sender, **fields):
        self.kind, self.sender = kind, sender
        self.life = self.sequence = self.tag = self.epoch = self.by = self.sent = self.since = 0
        self.deliveries, self.shared, self.bits, self.own_each, self.has_own = [], [False] * 3, 0.0, 1, 0
        self.__dict__.update(fields)

    def to(self, receivers, delay=0, copies=0):
        """Deliveries are (receiver, place, copies, delay, delay of copies)."""
        self.deliveries = [(receiver, place, copies, delay, delay) for place, receiver in enumerate(receivers)]
        return self

    def write(self):
        head = struct.pack(
            "<BIIIIIIqq", self.kind, self.sender, self.life, self.sequence, self.tag, self.epoch, self.by, self.sent, self.since)
        head += struct.pack("<Q", len(self.deliveries))
        head += b"".join(struct.pack("<IIBqq", *delivery) for delivery in self.deliveries)
        return head + struct.pack("<BBBdBB", *self.shared, self.bits, self.own_each, self.has_own)

    @staticmethod
    def read(head):
        fields = Fields(head)
        names = "life sequence tag epoch by sent since".split()
        kind, sender, *values = fields.take("BIIIIIIqq")
        message = Message(kind, sender, **dict(zip(names, values)))
        message.deliveries = [fields.take("IIBqq") for _ in range(fields.take("Q"))]
        *message.shared, message.bits, message.own_each, message.has_own = fields.take("BBBdBB")
        return message


def names(flag, items):
    """The head of a want or a have."""
    return struct.pack("<BQ", flag, len(items)) + b"".join(struct.pack("<BQ", *item) for item in items)


def read_names(head):
    fields = Fields(head)
    flag = fields.take("B")
    return flag, [fields.take("BQ") for _ in range(fields.take("Q"))]


def part(item, number, parts, head=b""):
    """The head of a payload."""
    return struct.pack("<BQII", *item, number, parts) + head
