# Reads the compiled `boot.py` from the host and runs it: compiling it takes longer than the rest of the start.
import marshal, posix

CHANNEL = 0


def need(count):
    parts = []
    while count:
        part = posix.read(CHANNEL, min(count, 1 << 20))
        if not part:
            posix._exit(0)
        parts.append(part)
        count -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def number():
    return int.from_bytes(need(4), "little")


exec(marshal.loads(need(number())))
