"""A second reader of certificates, from docs/certificate.md alone: python3 second_reader.py CERTIFICATE [FILE ...]

Reads the container, the statement and the records of a certificate of states whose variables and constants have types
of integers, booleans, elements of given sets, pairs and sets; checks all hashes, the seal, the counts, the order of
chunks, the one way to write each value, and, if files are given, that they are those of the statement. Prints the
machine, the counts, and the distinct states.

The types are given in the environment: TYPES is JSON, {"sets": {"S": 3}, "constants": [...], "variables": [...]}, a
type is "BOOL", "INTEGER", the name of a set, ["pow", type] or ["pair", type, type].

Absent on purpose: what the model means. Nothing is shared with kanon but the document.
"""
import json, os, struct, sys, zlib

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
ORDER = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
START, END, PARENT, ROOT = 1, 2, 4, 8


def compress(cv, block, counter, length, flags):
    v = cv + IV[:4] + [counter & 0xFFFFFFFF, counter >> 32, length, flags]
    m = list(struct.unpack("<16I", block.ljust(64, b"\0")))

    def mix(a, b, c, d, x, y):
        for word, (r, s) in ((x, (16, 12)), (y, (8, 7))):
            v[a] = (v[a] + v[b] + word) & 0xFFFFFFFF
            t = v[d] ^ v[a]
            v[d] = (t >> r | t << 32 - r) & 0xFFFFFFFF
            v[c] = (v[c] + v[d]) & 0xFFFFFFFF
            t = v[b] ^ v[c]
            v[b] = (t >> s | t << 32 - s) & 0xFFFFFFFF

    for _ in range(7):
        for i in range(4):
            mix(i, 4 + i, 8 + i, 12 + i, m[2 * i], m[2 * i + 1])
        for i in range(4):
            mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[8 + 2 * i], m[9 + 2 * i])
        m = [m[i] for i in ORDER]
    return [v[i] ^ v[i + 8] for i in range(8)]


def blake3(data):
    """The BLAKE3 hash of bytes."""

    def node(data, counter, root):
        if len(data) <= 1024:
            cv = IV[:]
            blocks = [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
            for i, block in enumerate(blocks):
                flags = (START if i == 0 else 0) | (END | root if i == len(blocks) - 1 else 0)
                cv = compress(cv, block, counter, len(block), flags)
            return cv
        left = 1024
        while left * 2 < len(data):
            left *= 2
        cvs = node(data[:left], counter, 0) + node(data[left:], counter + left // 1024, 0)
        return compress(IV[:], struct.pack("<16I", *cvs), 0, 64, PARENT | root)

    return struct.pack("<8I", *node(data, 0, ROOT))


def need(holds, why):
    if not holds:
        sys.exit("rejected: " + why)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        need(self.at + n <= len(self.data), "it ends too soon")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self):
        n, shift = 0, 0
        while True:
            (byte,) = self.take(1)
            n |= (byte & 127) << shift
            if byte < 128:
                need(byte or not shift, "a number is not written in the one way")
                return n
            shift += 7

    def value(self, ty, sets):
        """A value, in a form whose order is that of the values."""
        if ty == "BOOL":
            n = self.number()
            need(n < 2, "a truth value is none")
            return n
        if ty == "INTEGER":
            n = self.number()
            return -(n + 1) // 2 if n % 2 else n // 2
        if isinstance(ty, str):
            n = self.number()
            need(n < sets[ty], "an element is none of its set")
            return n
        if ty[0] == "pair":
            return (self.value(ty[1], sets), self.value(ty[2], sets))
        elements = [self.value(ty[1], sets) for _ in range(self.number())]
        need(all(a < b for a, b in zip(elements, elements[1:])), "a set is not in order")
        return tuple(elements)


def main(path, files):
    data = Bytes(open(path, "rb").read())
    need(data.take(8) == b"KANONCRT", "it is no certificate")
    version, length = struct.unpack("<II", data.take(8))
    need(version == 3 and length <= 16 << 20, "its version or its statement is not known here")
    statement = json.loads(data.take(length))
    tree, chunks = blake3(data.data[: data.at]), []
    while True:
        head = data.take(1)
        if head == b"\0":
            break
        head += data.take(40)
        packed, whole = struct.unpack("<II", head[1:9])
        content = data.take(packed)
        need(blake3(content) == head[9:], "a chunk has another hash")
        content = zlib.decompress(content, -15)
        need(len(content) == whole, "a chunk has another length")
        tree += head
        chunks.append((head[0], Bytes(content)))
    need(data.take(32) == blake3(tree), "the seal is another one")
    need(data.at == len(data.data), "something follows the seal")
    places = [min(kind, 33) for kind, _ in chunks]
    need(places == sorted(places), "chunks come in another order")

    for name, claimed in zip(files, statement["files"]):
        text = open(name, "rb").read()
        same = (os.path.basename(name), len(text)) == (claimed["name"], claimed["bytes"])
        need(same and blake3(text).hex() == claimed["blake3"], name + " is another file")

    types = json.loads(os.environ["TYPES"])
    sets = types["sets"]
    need(sets == {s["name"]: s["size"] for s in statement["sets"]}, "the sets are others")

    def witnesses(bytes):
        for _ in range(bytes.number()):
            for name in statement["symmetry"]:
                images = [bytes.number() for _ in range(sets[name])]
                need(sorted(images) == list(range(sets[name])), "a witness is no bijection")

    valuations, initial, states = [], 0, []
    for kind, bytes in chunks:
        while kind <= 3 and bytes.at < len(bytes.data):
            if kind == 1:
                given = types["constants"]
                need(given or bytes.number() == 0, "a valuation is none")
                valuations.append(tuple(bytes.value(t, sets) if bytes.number() else None for t in given))
            elif kind == 2:
                initial += 1
                witnesses(bytes)
            else:
                valuation = bytes.number()
                need(valuation < len(valuations), "a state has no valuation")
                states.append((valuation, *(bytes.value(t, sets) for t in types["variables"])))
                witnesses(bytes)
    counts = (statement["valuations"], statement["valuations"], statement["states"])
    need((len(valuations), initial, len(states)) == counts, "it has other counts")
    need(len(set(states)) == len(states), "a state is there twice")
    print(json.dumps({"machine": statement["machine"], "valuations": valuations, "states": states}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
