"""zstd by the system's library and by its program: what vmagent sends."""

import ctypes
import subprocess

HEADERS = [("Content-Type", "application/x-protobuf"), ("Content-Encoding", "zstd"),
           ("X-VictoriaMetrics-Remote-Write-Version", "1"), ("User-Agent", "vmagent")]

_library = ctypes.CDLL("libzstd.so.1")
_sizes = [ctypes.c_char_p, ctypes.c_size_t]
for _name, _arguments, _result in (
        ("ZSTD_compressBound", [ctypes.c_size_t], ctypes.c_size_t), ("ZSTD_isError", [ctypes.c_size_t], ctypes.c_uint),
        ("ZSTD_compress", [*_sizes, *_sizes, ctypes.c_int], ctypes.c_size_t),
        ("ZSTD_decompress", [*_sizes, *_sizes], ctypes.c_size_t)):
    getattr(_library, _name).argtypes, getattr(_library, _name).restype = _arguments, _result


def pack(raw, level=1):
    """One frame that declares its size."""
    out = ctypes.create_string_buffer(_library.ZSTD_compressBound(len(raw)))
    size = _library.ZSTD_compress(out, len(out), raw, len(raw), level)
    return ctypes.string_at(out, size)


def unpack(frames, size_max=1 << 24):
    """What frames hold. ValueError if they are none, or hold more."""
    out = ctypes.create_string_buffer(size_max)
    size = _library.ZSTD_decompress(out, size_max, frames, len(frames))
    if _library.ZSTD_isError(size):
        raise ValueError("no zstd, or too large")
    return ctypes.string_at(out, size)


# --- by the program

def zstd(raw, *flags):
    return subprocess.run(["zstd", "-q", "-c", *flags], input=raw, stdout=subprocess.PIPE, check=True).stdout


def sized(raw):
    """One frame that says its size, as vmagent makes it."""
    return zstd(raw, f"--stream-size={len(raw)}")


def unzstd(frame):
    return subprocess.run(["zstd", "-q", "-d", "-c"], input=frame, stdout=subprocess.PIPE, check=True).stdout
