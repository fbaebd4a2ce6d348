# SPDX-License-Identifier: GPL-2.0-only
"""The unit test programs: how they are built, of which files, and what they say of a mutant.

`make -n` says how each object is compiled and each program linked, the compiler says which files
an object depends on. So a mutant needs no make: only the objects that depend on its file are
compiled again, and only the programs with such an object are linked and run.
"""
import collections
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

SUITES = "tests/unit/module", "tests/unit/emulator", "tests/unit/userlib"
TREE = "module", "emulator/core", "userlib", "include", "tests/unit", "userland.mk", "VERSION"
SANITIZE = re.compile(r"-fsanitize=.*|-fno-sanitize-recover=.*")
# A function that no test calls has code, too, to be compared.
KEEP = ["-fkeep-inline-functions", "-fkeep-static-functions", "-Wno-unused-function"]


class Failure(Exception):
    """The original does not build, or its tests fail."""


Result = collections.namedtuple("Result", "status output cpu")

starting = threading.Lock()
running = set()     # process groups, each of one command
ended = False


def kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end():
    """Kills what runs; nothing is begun any more."""
    global ended    # pylint: disable=global-statement
    with starting:
        ended = True
        for group in running:
            kill(group)


def run(command, cwd, cpu=None, wall=600, env=None):
    """The exit status, or None if a limit of time was exceeded; what it printed; CPU seconds."""
    limits = ["prlimit", "--core=0", "--fsize=1073741824"]
    limits += [f"--cpu={cpu}"] if cpu else []
    until = time.monotonic() + wall
    with tempfile.TemporaryFile() as output:
        with starting:
            if ended:
                raise Failure("nothing is run any more")
            # A group, to be killed as one; in this session, with which scripts/suite kills it.
            process = subprocess.Popen(limits + command, cwd=cwd, env=env,
                                       stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, process_group=0)
            running.add(process.pid)
        pid = 0
        while not pid:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if time.monotonic() > until:
                kill(process.pid)
            if not pid:
                time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        with starting:
            running.discard(process.pid)
            kill(process.pid)	# what it has left running
        output.seek(0)
        text = output.read().decode(errors="replace")
    late = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return Result(None if late else process.returncode, text, usage.ru_utime + usage.ru_stime)


class Object:
    def __init__(self, path, words, cwd):
        self.path, self.words, self.cwd = path, words, cwd
        self.files = set()
        self.built = set()


class Program:
    def __init__(self, path, words, cwd, objects):
        self.path, self.words, self.cwd, self.objects = path, words, cwd, objects
        self.name = os.path.basename(path)
        self.cpu = 0		# seconds it takes without a mutant and without sanitizers


class Workshop:
    """A private copy of the sources, and what is built of it. One mutant at a time is in it."""

    def __init__(self, top, place, number, quick):
        self.top, self.place, self.number = top, f"{place}/{number}", number
        self.tree, self.out = f"{self.place}/tree", f"{self.place}/out"
        self.objects, self.programs = {}, []
        self.quick = quick
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                                 "--exclude-standard", "--", *TREE], cwd=top, check=True,
                                capture_output=True, text=True).stdout
        for path in filter(None, listed.split("\0")):
            if os.path.isfile(f"{top}/{path}"):
                os.makedirs(os.path.dirname(f"{self.tree}/{path}"), exist_ok=True)
                shutil.copyfile(f"{top}/{path}", f"{self.tree}/{path}")
        os.makedirs(f"{self.place}/tmp")
        self.env = os.environ | {"TMPDIR": f"{self.place}/tmp", "CMOCKA_TEST_ABORT": "1",
                                 "ASAN_OPTIONS": "detect_leaks=1"}
        self.env.pop("MAKEFLAGS", None)
        for suite in SUITES:
            self.read_suite(f"{self.tree}/{suite}")

    def read_suite(self, cwd):
        plan = subprocess.run(["make", "-n", "--no-print-directory", f"O={self.out}", "all"],
                              cwd=cwd, env=self.env, check=True, capture_output=True, text=True)
        for line in plan.stdout.replace("\\\n", " ").split("\n"):
            words = shlex.split(line)
            if "-o" not in words:
                continue
            path = words[words.index("-o") + 1]
            words = [word for word in words if word not in ("-g", "-MMD", "-MP")]
            if "-c" in words:
                self.objects[path] = Object(path, words, cwd)
            else:
                objects = [self.objects[word] for word in words if word in self.objects]
                self.programs.append(Program(path, words, cwd, objects))

    def at(self, path, variant):
        """Where a variant of an object or program is."""
        return f"{self.place}/{variant}{path[len(self.out):]}"

    @staticmethod
    def flags(words, variant):
        if variant.startswith("sanitized"):
            return words
        return [word for word in words if not SANITIZE.fullmatch(word)] + \
            (KEEP if "kept" in variant and "-c" in words else [])

    def compile(self, obj, variant):
        """The path of the object, or None if it does not compile."""
        path = self.at(obj.path, variant)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        words = [path if word == obj.path else word for word in self.flags(obj.words, variant)]
        result = run(words + ["-MMD", "-MF", f"{path}.d"], obj.cwd, env=self.env)
        self.said = result.output
        return path if result.status == 0 else None

    def original(self, obj, variant):
        """The path of the original's object. No mutant may be in the tree if it is not built."""
        if variant not in obj.built:
            if not self.compile(obj, variant):
                raise Failure(f"{obj.path} does not compile:\n{self.said}")
            obj.built.add(variant)
        return self.at(obj.path, variant)

    def link(self, program, variant, instead):
        """@instead: objects of a mutant, by the original's path."""
        path = self.at(program.path, f"{variant}-mutant" if instead else variant)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replaced = {program.path: path}
        for obj in program.objects:
            replaced[obj.path] = instead.get(obj.path) or self.at(obj.path, variant)
        words = [replaced.get(word, word) for word in self.flags(program.words, variant)]
        result = run(words, program.cwd, env=self.env)
        if result.status != 0:
            raise Failure(f"{program.name} does not link:\n{result.output}")
        return path

    def prepare(self, measured):
        """Builds the original, and finds out what depends on what. @measured: the programs to
        be run, by their numbers."""
        for obj in self.objects.values():
            self.original(obj, "plain")
        for number in measured:
            self.measure(self.programs[number])
        for obj in self.objects.values():
            with open(f"{self.at(obj.path, 'plain')}.d", encoding="utf-8") as deps:
                words = deps.read().replace("\\\n", " ").split()[1:]
            for word in words:
                path = os.path.normpath(os.path.join(obj.cwd, word))
                if path.startswith(self.tree + "/"):
                    obj.files.add(path[len(self.tree) + 1:])

    def measure(self, program):
        result = run([self.link(program, "plain", {})], program.cwd, env=self.env)
        if result.status != 0:
            raise Failure(f"{program.name} fails without a mutant:\n{result.output[-2000:]}")
        program.cpu = result.cpu

    def sources(self):
        return {file for obj in self.objects.values() for file in obj.files}

    def same(self, objects, variant):
        """Does the mutant in the tree have the same code as the original?"""
        for obj, path in objects:
            with open(path, "rb") as mutant, open(self.at(obj.path, variant), "rb") as original:
                if mutant.read() != original.read():
                    return False
        return True

    def verdict(self, mutant):
        """What becomes of a mutant, and which program noticed it, if one did."""
        path = f"{self.tree}/{mutant.file}"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        lines[mutant.line - 1] = mutant.new
        try:
            for variant in ["plain"] if self.quick else ["plain", "sanitized"]:
                told = self.judge(mutant, variant, path, text, "\n".join(lines))
                if told[0] != "survived":
                    break
            return told
        finally:
            self.write(path, text)
            shutil.rmtree(f"{self.place}/tmp")
            os.makedirs(f"{self.place}/tmp")

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def judge(self, mutant, variant, path, original, mutated):
        touched = [obj for obj in self.objects.values() if mutant.file in obj.files]
        programs = [p for p in self.programs if any(obj in touched for obj in p.objects)]
        for obj in {obj for program in programs for obj in program.objects}:
            self.original(obj, variant)
        self.write(path, mutated)
        objects = [(obj, self.compile(obj, f"{variant}-mutant")) for obj in touched]
        if not all(made for _, made in objects):
            return "not compiled", ""
        changed = [(obj, made) for obj, made in objects if not self.same([(obj, made)], variant)]
        if variant == "plain" and not changed:
            kept = [(obj, self.compile(obj, "kept-mutant")) for obj in touched]
            self.write(path, original)
            if not all(made for _, made in kept):
                return "not compiled", ""
            for obj in touched:
                self.original(obj, "kept")
            return "same code" if self.same(kept, "kept") else "in no test", ""
        self.write(path, original)
        return self.ask(mutant, variant, programs, {obj.path: made for obj, made in changed})

    def ask(self, mutant, variant, programs, instead):
        stem = os.path.splitext(os.path.basename(mutant.file))[0]
        programs = [p for p in programs if any(obj.path in instead for obj in p.objects)]
        programs.sort(key=lambda p: (stem not in p.name, p.cpu))
        if self.quick:
            programs = programs[:1] + [p for p in programs[1:] if p.cpu < 5]
        for program in programs:
            path = self.link(program, variant, instead)
            # Sanitizers make a program some five times slower.
            limit = (3 if variant == "plain" else 15) * program.cpu + 2
            result = run([path], program.cwd, cpu=int(limit), wall=20 * limit + 60, env=self.env)
            if result.status is None:
                return "timed out", program.name
            if result.status:
                return "noticed", program.name
        return "survived", ""
