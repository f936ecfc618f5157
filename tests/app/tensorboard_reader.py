"""Reads an event file of TensorBoard by its own means and compares it with the metrics.csv that it was made of.

    tensorboard_reader.py RUBATO EXPERIMENT

The checksum is computed bit by bit and Protocol Buffers are read field by field: nothing is shared with the writer.
"""
import csv
import math
import pathlib
import struct
import subprocess
import sys
import tempfile


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    place = 0
    while place < len(data):
        length, check = struct.unpack_from("<QI", data, place)
        assert masked(crc32c(data[place:place + 8])) == check, f"length at {place}"
        body = data[place + 12:place + 12 + length]
        (check,) = struct.unpack_from("<I", data, place + 12 + length)
        assert masked(crc32c(body)) == check, f"body at {place}"
        place += 16 + length
        yield body
    assert place == len(data)


def varint(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place


def fields(data):
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, place = varint(data, place)
        elif wire == 1:
            (value,), place = struct.unpack_from("<d", data, place), place + 8
        elif wire == 5:
            (value,), place = struct.unpack_from("<f", data, place), place + 4
        else:
            assert wire == 2, wire
            length, place = varint(data, place)
            value, place = data[place:place + length], place + length
            assert len(value) == length
        yield number, value


assert crc32c(b"123456789") == 0xE3069283  # the check value of the Castagnoli polynomial
rubato, experiment = sys.argv[1:3]
with tempfile.TemporaryDirectory() as home:
    home = pathlib.Path(home)
    subprocess.run([rubato, "run", experiment, "--set", "until=20.5", "--quiet", "--out", home / "run"], check=True,
                   stdout=subprocess.DEVNULL)
    said = subprocess.run([rubato, "export", home / "run", "--tensorboard", home / "board"], check=True, capture_output=True, text=True)
    file = pathlib.Path(said.stdout.strip())
    assert file.parent == home / "board" and ".tfevents." in file.name, said.stdout
    rows = list(csv.DictReader(open(home / "run" / "metrics.csv")))
    events = [dict_of for dict_of in ({n: v for n, v in fields(body)} for body in records(file.read_bytes()))]
    assert events[0][3] == b"brain.Event:2"
    scalars, histograms, texts = {}, {}, {}
    for event in events[1:]:
        for _, value in fields(event[5]):
            parts = dict(fields(value))
            name = parts[1].decode()
            if 2 in parts:
                scalars.setdefault(name, []).append((event.get(2, 0), parts[2]))
            elif 5 in parts:
                histograms[name] = dict(fields(parts[5]))
            else:
                assert dict(fields(dict(fields(parts[9]))[1]))[1] == b"text"
                texts[name] = dict(fields(parts[8]))[8].decode()
    assert len(rows) > 2
    for name, column in {"accuracy/mean": "accuracy_mean", "loss/mean": "loss_mean", "consensus": "consensus",
                         "counts/bytes_wire": "bytes_wire"}.items():
        assert len(scalars[name]) == len(rows), name
        for (step, value), row in zip(scalars[name], rows):
            assert step == round(float(row["seconds"]) * 1000), name
            assert math.isclose(value, float(row[column]), rel_tol=1e-6), (name, value, row[column])
    clients = [float(row["accuracy"]) for row in csv.DictReader(open(home / "run" / "clients.csv"))]
    shown = histograms["clients/accuracy"]
    assert shown[1] == min(clients) and shown[2] == max(clients) and shown[3] == len(clients)
    assert math.isclose(shown[4], sum(clients))
    counts = struct.unpack(f"<{len(shown[7]) // 8}d", shown[7])
    limits = struct.unpack(f"<{len(shown[6]) // 8}d", shown[6])
    assert sum(counts) == len(clients) and list(limits) == sorted(limits)
    below = 0
    for limit, count in zip(limits, counts):
        below += count
        assert below >= sum(value < limit * (1 - 1e-12) for value in clients)
    assert 'name = "' in texts["experiment"]
    print(f"{len(events)} records, {len(scalars)} scalars, {len(histograms)} histograms")
