# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hardware instruction traces (Intel PT, BTS): record a region of this program, and see what ran.

    import auxtrace

    with auxtrace.trace("recording"):
        region_of_interest()
    for call in auxtrace.Recording("recording").calls():
        print(call.function, call.end_ns - call.begin_ns)

By libauxtrace and libauxtrace-decode, whose headers have the details. Errors are auxtrace.Error, an OSError.
"""

import atexit
import contextlib
import ctypes
import functools
import os
import queue
import threading

from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int32, c_size_t, c_uint, c_uint32, c_uint64,
                    c_void_p, sizeof)


class Error(OSError):
    """What a call of the libraries says of its failure."""


# ---- libauxtrace-decode --------------------------------------------------------------


class _DecoderOptions(Structure):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("cpu", c_int32), ("tid", c_uint32), ("window", c_uint64),
                ("begin_ns", c_uint64), ("end_ns", c_uint64), ("function", c_char_p), ("max_depth", c_uint32),
                ("reserved", c_uint32), ("symfs", c_char_p), ("message", c_void_p), ("context", c_void_p)]


class _Call(Structure):
    pass


_Call._fields_ = [("flags", c_uint32), ("cpu", c_uint32), ("pid", c_uint32), ("tid", c_uint32), ("comm", c_char_p),
                  ("caller", POINTER(_Call)), ("depth", c_uint32), ("reserved", c_uint32), ("ip", c_uint64),
                  ("function", c_char_p), ("offset", c_uint64), ("object", c_char_p), ("how", c_char_p),
                  ("window", c_uint64), ("begin_ns", c_uint64), ("end_ns", c_uint64), ("instructions", c_uint64),
                  ("callee_instructions", c_uint64), ("away_ns", c_uint64), ("own", c_void_p)]


class _CallHandler(Structure):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32), ("begin", c_void_p), ("end", c_void_p), ("line", c_void_p),
                ("event", c_void_p)]


class _Sum(Structure):
    _fields_ = [("size", c_uint32), ("reserved", c_uint32)] + [
        (name, c_uint64) for name in ("instructions", "windows", "samples", "bytes", "errors", "overflows", "skipped",
                                      "unsynced", "unsampled")]


_SAMPLES = 1 << 0
_BEGUN, _RETURNED, _KERNEL, _THREAD = (1 << bit for bit in range(4))

_Message = CFUNCTYPE(None, c_void_p, c_char_p)
_CallFunction = CFUNCTYPE(c_int, c_void_p, POINTER(_Call))


class _Libraries:
    """The libraries, loaded when they are used first: who decodes only does not need the other one."""

    @functools.cached_property
    def decode(self):
        library = ctypes.CDLL("libauxtrace-decode.so.0", use_errno=True)
        library.auxtrace_decoder_open.restype = c_void_p
        library.auxtrace_decoder_error.restype = c_char_p
        library.auxtrace_decoder_close.argtypes = [c_void_p]
        library.auxtrace_decoder_cpu.argtypes = [c_void_p, c_uint]
        library.auxtrace_decoder_sum.argtypes = [c_void_p, POINTER(_Sum)]
        library.auxtrace_decode_calls.argtypes = [c_void_p, POINTER(_CallHandler), c_void_p]
        return library

    @functools.cached_property
    def record(self):
        library = ctypes.CDLL("libauxtrace.so.0", use_errno=True)
        library.auxtrace_open.restype = c_void_p
        library.auxtrace_error.restype = c_char_p
        for name in ("close", "start", "stop", "resume", "pause"):
            getattr(library, "auxtrace_" + name).argtypes = [c_void_p]
        library.auxtrace_setup.argtypes = [c_void_p, POINTER(_Options)]
        library.auxtrace_save.argtypes = [c_void_p, c_char_p]
        return library


_libraries = _Libraries()


def _text(value):
    return None if value is None else value.decode(errors="replace")


class Call:
    """A call of a function, as struct auxtrace_call says; caller is the Call around it, or None."""

    __slots__ = ("cpu", "pid", "tid", "comm", "caller", "depth", "ip", "function", "offset", "object", "how", "window",
                 "begin_ns", "end_ns", "instructions", "callee_instructions", "away_ns", "begun", "returned", "kernel")

    def __init__(self, call, caller):
        known = call.flags & _THREAD
        self.cpu, self.depth, self.ip, self.offset, self.window = call.cpu, call.depth, call.ip, call.offset, call.window
        self.pid, self.tid = (call.pid, call.tid) if known else (None, None)
        self.comm, self.function, self.object, self.how = map(_text, (call.comm, call.function, call.object, call.how))
        self.caller = caller
        self.begun, self.kernel = bool(call.flags & _BEGUN), bool(call.flags & _KERNEL)
        self.begin_ns, self.end_ns, self.returned = call.begin_ns, 0, False
        self.instructions = self.callee_instructions = self.away_ns = 0

    def _ends(self, call):
        self.end_ns, self.away_ns, self.returned = call.end_ns, call.away_ns, bool(call.flags & _RETURNED)
        self.instructions, self.callee_instructions = call.instructions, call.callee_instructions

    def stack(self):
        """This call and those around it, outermost first."""
        calls = []
        while self:
            calls.append(self)
            self = self.caller
        return calls[::-1]

    def __repr__(self):
        return f"<Call {self.function or hex(self.ip)} ({self.object})>"


class Recording:
    """A recording, or a snapshot of one, or the part of it that the arguments choose."""

    def __init__(self, directory, symfs=None, cpu=-1, tid=0, window=0, begin_ns=0, end_ns=0, function=None, max_depth=0,
                 samples=False):
        self.messages = []      # what there was to say of the recording, a sentence each
        self._message = _Message(lambda _, text: self.messages.append(_text(text)))
        self._options = _DecoderOptions(
            size=sizeof(_DecoderOptions), flags=_SAMPLES if samples else 0, cpu=cpu, tid=tid, window=window,
            begin_ns=begin_ns, end_ns=end_ns, function=function and os.fsencode(function), max_depth=max_depth,
            symfs=symfs and os.fsencode(symfs), message=ctypes.cast(self._message, c_void_p))
        self._decoder = _libraries.decode.auxtrace_decoder_open(os.fsencode(directory), byref(self._options))
        if not self._decoder:
            raise _decode_error()
        self._busy = False

    def close(self):
        if self._busy:
            raise ValueError("calls() has not ended")
        _libraries.decode.auxtrace_decoder_close(self._decoder)
        self._decoder = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_decoder", None) and not self._busy:
            self.close()

    def _opened(self):
        if not self._decoder:
            raise ValueError("the recording is closed")
        return self._decoder

    @property
    def cpus(self):
        """The CPUs of the recording."""
        found, at = [], 0
        while (cpu := _libraries.decode.auxtrace_decoder_cpu(self._opened(), at)) >= 0:
            found.append(cpu)
            at += 1
        return found

    @property
    def sum(self):
        """A dictionary of what the last calls() decoded, and what it could not: struct auxtrace_decoder_sum."""
        total = _Sum(size=sizeof(_Sum))
        if _libraries.decode.auxtrace_decoder_sum(self._opened(), byref(total)):
            raise _decode_error()
        return {name: getattr(total, name) for name, kind in _Sum._fields_ if kind is c_uint64}

    def calls(self):
        """Each call when it has ended, those inside it first. One such iteration at a time."""
        if self._busy:
            raise ValueError("another calls() has not ended")
        decoding = _Decoding(self._opened())
        self._busy = True
        try:
            yield from decoding.calls()
        finally:
            decoding.stop()
            self._busy = False


class _Decoding:
    """Decodes in a thread of its own, which waits while nobody takes what it found."""

    BATCH = 1000

    def __init__(self, decoder):
        self._batches = queue.Queue(maxsize=8)
        self._stopped = False
        self._error = None
        self._thread = threading.Thread(target=self._run, args=(decoder,), daemon=True)
        self._thread.start()
        # An iteration that has not ended: the interpreter cannot end the thread.
        atexit.register(self.stop)

    def _run(self, decoder):
        try:
            self._decode(decoder)
        except BaseException as error:  # pylint: disable=broad-exception-caught
            self._error = error
        self._batches.put(None)

    def _function(self, handler):
        """What the library calls. ctypes would drop an exception, and go on: it ends the decoding."""
        def function(_, pointer):
            try:
                handler(pointer.contents)
            except BaseException as error:  # pylint: disable=broad-exception-caught
                self._error = error
            return bool(self._stopped or self._error)
        return _CallFunction(function)

    def _decode(self, decoder):
        open_calls, batch = {}, []

        def begin(call):
            caller = open_calls.get(ctypes.addressof(call.caller.contents)) if call.caller else None
            open_calls[ctypes.addressof(call)] = Call(call, caller)

        def end(call):
            nonlocal batch
            ended = open_calls.pop(ctypes.addressof(call))
            ended._ends(call)
            batch.append(ended)
            if len(batch) == self.BATCH:
                self._batches.put(batch)
                batch = []

        functions = self._function(begin), self._function(end)
        handler = _CallHandler(size=sizeof(_CallHandler), begin=ctypes.cast(functions[0], c_void_p),
                               end=ctypes.cast(functions[1], c_void_p))
        if _libraries.decode.auxtrace_decode_calls(decoder, byref(handler), None) < 0:
            self._error = _decode_error()
        self._batches.put(batch)

    def _next_batch(self):
        while True:
            try:
                return self._batches.get(timeout=1)
            except queue.Empty:
                # The child of a fork has no such thread.
                if not self._thread.is_alive() and self._batches.empty():
                    raise RuntimeError("calls() began before a fork, and goes on only in the parent") from None

    def calls(self):
        while (batch := self._next_batch()) is not None:
            yield from batch
        if self._error:
            raise self._error

    def stop(self):
        self._stopped = True
        # It may wait for room.
        while self._thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self._batches.get(timeout=0.01)
        self._thread.join()
        atexit.unregister(self.stop)


def _decode_error():
    return Error(ctypes.get_errno(), _text(_libraries.decode.auxtrace_decoder_error()))


# ---- libauxtrace ----------------------------------------------------------------------


class _Options(Structure):
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("pmu", c_uint32), ("tid", c_uint32), ("reserved", c_uint32),
                ("cpus", c_char_p), ("config", c_char_p), ("aux_size", c_uint64), ("aux_watermark", c_uint64),
                ("data_size", c_uint64), ("data_watermark", c_uint64), ("records", c_uint32), ("slots", c_uint32),
                ("filters", c_void_p), ("nr_filters", c_uint32), ("reserved_filters", c_uint32)]


# <linux/auxtrace.h>
_SETUP_KERNEL, _SETUP_USER, _SETUP_PAUSED, _SETUP_THREAD = 1 << 0, 1 << 1, 1 << 3, 1 << 9
PT, BTS = 0, 1


def _check(done):
    if not done:
        raise Error(ctypes.get_errno(), _text(_libraries.record.auxtrace_error()))


@contextlib.contextmanager
def trace(directory, kernel=False, size=0, pmu=PT):
    """Trace this thread, in its user code and if kernel is true in the kernel, and write the recording.

    size: bytes of trace for each CPU, a power of two; 0: 4 MiB. What does not fit is counted as lost.
    The recording is written also if the block raises an exception.
    """
    library = _libraries.record
    session = library.auxtrace_open(None)
    _check(session)
    try:
        options = _Options(size=sizeof(_Options), pmu=pmu, aux_size=size, data_size=1 << 16,
                           flags=_SETUP_THREAD | _SETUP_PAUSED | _SETUP_USER | (_SETUP_KERNEL if kernel else 0))
        _check(library.auxtrace_setup(session, byref(options)) == 0)
        _check(library.auxtrace_start(session) == 0)
        _check(library.auxtrace_resume(session) == 0)
        try:
            yield
        finally:
            _check(library.auxtrace_pause(session) == 0)
            _check(library.auxtrace_stop(session) == 0)
            _check(library.auxtrace_save(session, os.fsencode(directory)) == 0)
    finally:
        library.auxtrace_close(session)
