#!/usr/bin/python3
"""Makes small faults in the source, and finds out which of them the tests notice. See README.md."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import places

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
CORE = 'core series wire filter limit cardinality claim plan'.split()
EDGES = 'base net config upstream redis http fleet ingest admin top suggest process'.split()
# How often a kind is taken, next to the others. There are few locks and time limits: nearly all of them are taken.
WEIGHTS = {'comparison': 5, 'statement': 5, 'condition': 4, 'constant': 4, 'logic': 2, 'lock': 1, 'time limit': 2}
SUITES = ['tests/scenes', 'tests/attacks', 'tests/e2e']
ROOM_MIN = 8
SLACK = 5.0  # seconds that a test may take longer than without a fault, and SLOWER times as long besides
SLOWER = 6
ENVIRONMENT = {'SERIESGATE_SEEDS': '10'}


class Work:
    """What lies in the build folder."""

    def __init__(self, folder):
        self.folder = folder
        self.tree = folder / 'tree'
        self.build = self.tree / 'build'
        self.list = folder / 'list.json'
        self.reach = folder / 'reach.json'
        self.suites = folder / 'suites.json'
        self.results = folder / 'results.jsonl'

    def faults(self):
        return json.loads(self.list.read_text())

    def chosen(self):
        return [f for f in self.faults() if f['state'] == 'chosen']


# Choosing

def all_places():
    found = []
    for room in CORE + EDGES:
        files = sorted((TOP / 'src' / room).glob('*.[ch]pp'))
        constants = set().union(*(places.constants_of(f.read_text()) for f in files))
        for file in files:
            source = file.read_text()
            found += [(room, str(file.relative_to(TOP)), place) for place in places.places_of(source, constants)]
    return found


def choose(count, seed, rooms):
    """A part of all places in these rooms, by the seed: as much of each room as it has of the code, of each kind as WEIGHTS says."""
    by_room = collections.defaultdict(list)
    for room, file, place in all_places():
        if room in rooms:
            by_room[room].append((file, place))
    lines = {room: sum(len(f.read_text().splitlines()) for f in (TOP / 'src' / room).glob('*.[ch]pp')) for room in by_room}
    chosen = []
    for room in [each for each in CORE + EDGES if each in rooms]:
        rng = random.Random(f'{seed} {room}')
        share = max(min(ROOM_MIN, count // 2), round(count * lines[room] / sum(lines.values())))
        kinds = collections.defaultdict(list)
        for file, place in by_room[room]:
            kinds[place.kind].append((file, place))
        for kind in sorted(kinds):
            rng.shuffle(kinds[kind])
        taken = []
        while len(taken) < share and any(kinds.values()):
            left = [k for k in sorted(kinds) if kinds[k]]
            kind = rng.choices(left, [WEIGHTS[k] for k in left])[0]
            file, place = kinds[kind].pop()
            if not any(clashes(place, other) for name, other in taken if name == file):
                taken.append((file, place))
        chosen += [(room, file, place) for file, place in taken]
    return sorted(chosen, key=in_order)


def in_order(chosen):
    _, file, place = chosen
    return file, place.start, place.end, place.kind, place.mutated


def clashes(one, other):
    """Whether two overlap but neither lies within one piece that the other keeps, or are at the same place."""
    if one.end <= other.start or other.end <= one.start:
        return False
    for outer, inner in ((one, other), (other, one)):
        if outer.start <= inner.start and inner.end <= outer.end and (outer.start, outer.end) != (inner.start, inner.end):
            return not any(not isinstance(p, str) and p[0] <= inner.start and inner.end <= p[1] for p in outer.pieces)
    return True


def generate(work, count, seed, sample, rooms):
    chosen = choose(count, seed, rooms)
    if sample:
        chosen = sorted(random.Random(seed).sample(chosen, min(sample, len(chosen))), key=in_order)
    there = {(file, place.kind, place.original, place.mutated or '-') for _, file, place in all_places()}
    for gone in sorted(equivalents().keys() - there):
        print('in equivalent.txt, and not in the source:', *gone)
    faults = []
    for number, (room, file, place) in enumerate(chosen, 1):
        source = (TOP / file).read_text()
        line = source.count('\n', 0, place.start) + 1
        key = hashlib.sha256(repr((file, source, place)).encode()).hexdigest()[:16]
        faults.append({'id': number, 'room': room, 'file': file, 'line': line, 'last_line': source.count('\n', 0, place.end) + 1,
                       'kind': place.kind, 'original': place.original, 'mutated': place.mutated, 'key': key, 'state': 'chosen',
                       'place': [place.start, place.end, place.pieces]})
    work.folder.mkdir(parents=True, exist_ok=True)
    old = {f['key']: f['state'] for f in work.faults()} if work.list.exists() else {}
    for f in faults:
        f['state'] = old.get(f['key'], 'chosen')
    save(work.list, faults)
    print(f'{len(faults)} faults chosen')


def save(path, value):
    part = path.with_suffix('.part')
    part.write_text(json.dumps(value, indent=0))
    part.replace(path)


# Building

def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def link(path, target):
    if path.is_symlink() and os.readlink(path) == str(target):
        return
    if path.is_symlink() or path.exists():
        path.unlink()
    path.symlink_to(target)


def write_tree(work):
    """A tree like this one, of links, but for the files with faults and what knows of them."""
    tree = work.tree
    (tree / 'tests').mkdir(parents=True, exist_ok=True)
    (tree / 'src').mkdir(exist_ok=True)
    for entry in TOP.iterdir():
        if entry.name not in ('src', 'tests', 'build', '.git', 'CMakeLists.txt'):
            link(tree / entry.name, entry)
    for entry in (TOP / 'tests').iterdir():
        if entry.name != 'support':
            link(tree / 'tests' / entry.name, entry)
    for entry in (TOP / 'tests' / 'support').iterdir():
        if entry.name != 'main.cpp':
            (tree / 'tests' / 'support').mkdir(exist_ok=True)
            link(tree / 'tests' / 'support' / entry.name, entry)
    write_if_changed(tree / 'tests/support/main.cpp', (TOP / 'tests/support/main.cpp').read_text() +
                     '#include "support/catch.hpp"\n#include "listener.hpp"\n')
    write_if_changed(tree / 'CMakeLists.txt', (TOP / 'CMakeLists.txt').read_text() + f'''
add_library(seriesgate_mutants STATIC {HERE}/runtime.cpp)
target_include_directories(seriesgate_mutants PUBLIC {HERE})
target_link_libraries(seriesgate_options INTERFACE seriesgate_mutants)
foreach(room {' '.join(EDGES)})  # most of the time is the compiler's
  if(TARGET ${{room}}_tests)
    target_compile_options(${{room}}_tests PRIVATE -O0)
  endif()
endforeach()
''')
    by_file = collections.defaultdict(list)
    for f in work.chosen():
        start, end, pieces = f['place']
        pieces = [p if isinstance(p, str) else tuple(p) for p in pieces]
        by_file[f['file']].append((f['id'], places.Place(f['kind'], start, end, pieces, '', '')))
    kept = set()
    for file in (TOP / 'src').rglob('*'):
        if not file.is_file():
            continue
        name = str(file.relative_to(TOP))
        kept.add(name)
        text = file.read_text()
        if name in by_file:
            text = '#include "runtime.hpp"\n' + places.rendered(text, by_file[name])
        write_if_changed(tree / name, text)
    for file in (tree / 'src').rglob('*'):
        if file.is_file() and str(file.relative_to(tree)) not in kept:
            file.unlink()


def configure(work):
    subprocess.run(['cmake', '-S', work.tree, '-B', work.build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_CXX_FLAGS_DEBUG=-O1',
                    '-DCMAKE_CXX_FLAGS=-w', '-DSERIESGATE_UNITY=ON', '-DSERIESGATE_BENCHES=OFF', '-DSERIESGATE_HARDENING=OFF', '-DSERIESGATE_TESTS=ON',
                    '-DSERIESGATE_VERSION=0.0.0', '-DSERIESGATE_REVISION=0000000000', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON'],
                   check=True, stdout=subprocess.DEVNULL)


PLACE = re.compile(r'src/(\w+/\w+\.[ch]pp):(\d+)')


def to_blame(work, output):
    """The faults on the lines that the compiler names, of each error the first lines that have any."""
    blamed = set()
    faults = work.chosen()
    for block in re.split(r'\n(?=\S+: In |\S+: error:|FAILED:|In file included)', output):
        if 'error:' not in block:
            continue
        errors = [line for line in block.splitlines() if 'error:' in line]
        for lines in (errors, block.splitlines()):
            named = {('src/' + m[1], int(m[2]) - 1) for line in lines for m in PLACE.finditer(line)}
            hit = {f['id'] for f in faults for file, at in named if f['file'] == file and f['line'] <= at <= f['last_line']}
            if hit:
                blamed |= hit
                break
    if not blamed:  # all faults of the files that do not compile
        named = {'src/' + m[1] for line in output.splitlines() if 'error:' in line for m in PLACE.finditer(line)}
        blamed = {f['id'] for f in faults if f['file'] in named}
    return blamed


def ninja(work, jobs, targets):
    """Builds; drops faults that do not compile, and builds again."""
    for _ in range(12):
        write_tree(work)
        made = subprocess.run(['nice', '-n', '10', 'ninja', '-C', work.build, '-k', '0', '-j', str(jobs), *targets],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
        (work.folder / 'build.log').write_text(made.stdout)
        if made.returncode == 0:
            return
        drop(work, to_blame(work, made.stdout), made.stdout)
    sys.exit('mutants: it does not compile, see build.log')


def drop(work, blamed, output):
    if not blamed:
        sys.exit('mutants: the build fails, and no fault is to blame:\n' + output[-4000:])
    faults = work.faults()
    for f in faults:
        if f['id'] in blamed:
            f['state'] = 'does not compile'
    save(work.list, faults)
    print(f'{len(blamed)} faults do not compile:', *sorted(blamed), flush=True)


def check_headers(work, jobs):
    """Compiles each header with faults for itself, for one that does not compile costs many files."""
    commands = json.loads((work.build / 'compile_commands.json').read_text())
    by_room = {}
    for c in commands:
        m = re.search(r'/tree/src/(\w+)/', c['file'])
        if m:
            by_room.setdefault(m[1], c)

    def check(file):
        c = by_room.get(file.split('/')[1]) or next(iter(by_room.values()))
        words = c['command'].split()
        words = words[next(i for i, w in enumerate(words) if w.endswith(('g++', 'c++', 'clang++'))):]
        words = words[:words.index('-o')] + ['-fsyntax-only', '-x', 'c++', '-I', str(work.build / 'include' / file.split('/')[1]),
                                             str(work.tree / file)]
        if not by_room.get(file.split('/')[1]):
            words += [f'-I{p}' for p in (work.build / 'include').iterdir()]
        return subprocess.run(words, cwd=c['directory'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    for _ in range(4):
        write_tree(work)
        headers = sorted({f['file'] for f in work.chosen() if f['file'].endswith('.hpp')})
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            output = '\n'.join(o for o in pool.map(check, headers) if 'error:' in o)
        blamed = to_blame(work, output) if output else set()
        if not blamed:
            return
        drop(work, blamed, output)


def build(work, jobs):
    write_tree(work)
    configure(work)
    check_headers(work, jobs)
    for rooms in (CORE, EDGES):
        ninja(work, jobs, [f'seriesgate_{room}' for room in rooms if list((TOP / 'src' / room).glob('*.cpp'))])
        ninja(work, jobs, [f'{room}_tests' for room in rooms if list((TOP / 'tests' / room).glob('*_test.cpp'))])
    ninja(work, jobs, [])
    print(f'{len(work.chosen())} faults built', flush=True)


# Running

def limit_resources():
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(words, environment, seconds, cwd):
    """@return the exit status, or None if it took too long. Whatever the program started ends with it."""
    temporary = tempfile.mkdtemp(prefix='mutants-')
    process = subprocess.Popen(words, env={**os.environ, **ENVIRONMENT, 'TMPDIR': temporary, **environment}, cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit_resources)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(temporary, ignore_errors=True)


def run_cases(work, room, cases, mutant, seconds, record=False):
    """Runs test cases of one program, up to the first that fails.
    @return status, and of each case that was begun [name, seconds, failed assertions, reached], None for what is unknown."""
    with tempfile.TemporaryDirectory(prefix='mutants-') as folder:
        log, names = os.path.join(folder, 'log'), os.path.join(folder, 'names')
        environment = {'SERIESGATE_MUTANT': str(mutant), 'SERIESGATE_MUTANTS_LOG': log}
        words = ['nice', '-n', '10', str(work.build / f'{room}_tests')]
        if record:
            environment['SERIESGATE_MUTANTS_RECORD'] = '1'
        else:
            words.append('-a')
        if cases is not None:
            pathlib.Path(names).write_text(''.join('"%s"\n' % re.sub(r'([\\",])', r'\\\1', c) for c in cases))
            words += ['-f', names]
        status = call(words, environment, seconds, work.build)
        begun = []
        for line in pathlib.Path(log).read_text(errors='replace').splitlines() if os.path.exists(log) else []:
            parts = line.split('\t')
            if parts[0] == 'begin':
                begun.append([parts[1], None, None, None])
            elif begun:
                begun[-1][1:] = [float(parts[1]), int(parts[2]), sorted({int(n) for n in parts[3].split(',') if n})]
        return status, begun


def record(work, jobs):
    """Which test case reaches which fault, and how long it takes."""
    def one(room):
        began = time.time()
        status, begun = run_cases(work, room, None, 0, 1200, record=True)
        print(f'{room}: {len(begun)} test cases, {time.time() - began:.0f} s, status {status}', flush=True)
        return room, begun
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = dict(pool.map(one, [room for room in CORE + EDGES if (work.build / f'{room}_tests').exists()]))
    bad = [f'{room}: {c[0]}' for room, cases in found.items() for c in cases if c[2] != 0]
    for b in bad:
        print('fails without a fault, and is left out:', b)
    save(work.reach, {room: [c for c in cases if c[2] == 0] for room, cases in found.items()})


class Judge:
    """Runs the tests for one fault after another."""

    def __init__(self, work, elsewhere=1e9):
        self.work = work
        self.elsewhere = elsewhere  # seconds of test cases of other rooms, at most
        self.reach = json.loads(work.reach.read_text())
        self.unreliable = set()
        self.guard = threading.Lock()

    def plan(self, fault):
        """Batches of (room, cases, seconds): those of its own room first, quick ones first."""
        batches = []
        for room, cases in self.reach.items():
            cases = sorted((c[1], c[0]) for c in cases if fault['id'] in c[3])
            batch, total = [], 0.0
            for seconds, name in cases:
                if batch and total + seconds > 1:
                    batches.append((room, batch, total))
                    batch, total = [], 0.0
                batch.append(name)
                total += seconds
            if batch:
                batches.append((room, batch, total))
        batches.sort(key=lambda b: (b[0] != fault['room'], b[2]))
        left = self.elsewhere
        for n, (room, _, seconds) in enumerate(batches):
            left -= seconds if room != fault['room'] else 0
            if left < 0:
                return batches[:n]
        return batches

    def judge(self, fault):
        batches = self.plan(fault)
        if not batches:
            return 'unreached', ''
        for room, cases, seconds in batches:
            while True:
                cases = [c for c in cases if (room, c) not in self.unreliable]
                if not cases:
                    break
                bound = seconds * SLOWER + SLACK
                status, begun = run_cases(self.work, room, cases, fault['id'], bound)
                if status == 0:
                    break
                # Where it ended before any test case, or after the last, the first of them is as good as another.
                failed = next((c[0] for c in begun if c[2] != 0), begun[-1][0] if begun else cases[0])
                again, _ = run_cases(self.work, room, [failed], 0, bound)
                if again == 0:
                    how = 'time' if status is None else 'a signal' if status < 0 or status > 128 else ''
                    return 'killed', f'{room}: {failed}' + (f' ({how})' if how else '')
                with self.guard:
                    self.unreliable.add((room, failed))
                print(f'fails now and then without a fault: {room}: {failed}', flush=True)
        return 'survived', ''


def results_of(work):
    if not work.results.exists():
        return {}
    return {r['key']: r for r in map(json.loads, work.results.read_text().splitlines())}


def each(faults, jobs, seconds, judge, path):
    """Judges what has no result yet, and appends what comes out."""
    guard, began, done = threading.Lock(), time.time(), 0

    def one(fault):
        nonlocal done
        if time.time() - began > seconds:
            return
        start = time.time()
        result, by = judge(fault)
        with guard, open(path, 'a') as out:
            done += 1
            out.write(json.dumps({'key': fault['key'], 'id': fault['id'], 'result': result, 'by': by,
                                  'seconds': round(time.time() - start, 2)}) + '\n')
            print(f"{done}/{len(faults)} {fault['id']} {fault['file']}:{fault['line']} {fault['kind']}: {result} {by}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, faults))


def run(work, jobs, seconds, ids, elsewhere):
    results = results_of(work)
    faults = [f for f in work.chosen() if (f['id'] in ids if ids else f['key'] not in results)]
    each(faults, jobs, seconds, Judge(work, elsewhere).judge, work.results)


# Suites: what is no unit test, a file or a program at a time

def suites(work, only):
    """@return by name the command of each whose name matches."""
    pytest = ['/usr/bin/python3', '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider', '-m', 'not extended and not slow']
    found = {'histories': [str(work.build / 'histories'), '--first', '1', '--count', '300'],
             'scenes_tests': [str(work.build / 'scenes_tests'), '-a']}
    for folder in SUITES:
        for file in sorted((TOP / folder).glob('test_*.py')):
            found[f'{folder[6:]}/{file.name}'] = [*pytest, str(file)]
    return {name: words for name, words in found.items() if re.search(only, name)}


def run_suite(work, words, environment, seconds):
    gate = {'SERIESGATE_BIN': str(work.build / 'seriesgate')}
    return call(['nice', '-n', '10', *words], {**gate, **environment}, seconds, TOP)


def record_suites(work, jobs, commands):
    """Which suite reaches which fault, and how long it takes: what `suites` has of these is kept, the others are run."""
    def one(item):
        name, words = item
        with tempfile.TemporaryDirectory(prefix='mutants-') as folder:
            reached = pathlib.Path(folder) / 'reached'
            began = time.time()
            status = run_suite(work, words, {'SERIESGATE_MUTANTS_REACHED': str(reached)}, 300)
            took = time.time() - began
            numbers = sorted({int(n) for n in reached.read_text().split()}) if reached.exists() else []
        if status == 0:
            return name, [took, numbers]
        if status != 5:  # pytest found no test
            print(f'fails without a fault, and is left out: {name} (status {status})', flush=True)
        return name, None
    known = json.loads(work.suites.read_text()) if work.suites.exists() else {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        known.update(pool.map(one, [item for item in commands.items() if item[0] not in known]))
    save(work.suites, known)
    return {name: found for name, found in known.items() if found and name in commands}


def run_suites(work, jobs, seconds, ids, most, only):
    """The suites that reach a fault, quick ones first, until one fails; for each fault at most so many seconds of them."""
    commands, results = suites(work, only), results_of(work)
    reach = record_suites(work, jobs, commands)

    def judge(fault):
        before = results.get(fault['key'], {}).get('result', 'unreached')
        left, ran = most, False
        for took, name in sorted((took, name) for name, (took, numbers) in reach.items() if fault['id'] in numbers):
            left -= took
            if left < 0 and ran:
                break
            ran = True
            bound = took * SLOWER + SLACK
            status = run_suite(work, commands[name], {'SERIESGATE_MUTANT': str(fault['id'])}, bound)
            if status != 0 and run_suite(work, commands[name], {}, bound) == 0:
                return 'killed', name + (' (time)' if status is None else '')
        return ('survived' if ran else before), ''

    left = {'survived', 'unreached'}
    faults = [f for f in work.chosen()
              if (f['id'] in ids if ids else results.get(f['key'], {}).get('result') in left)]
    each(faults, jobs, seconds, judge, work.results)


# Reporting

def equivalents():
    """Lines of equivalent.txt: file | kind | original | mutated | why."""
    found = {}
    for line in (HERE / 'equivalent.txt').read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            file, kind, original, mutated, why = (p.strip() for p in line.split(' ¦ '))
            found[file, kind, original, mutated] = why
    return found


def report(work):
    same, results, faults = equivalents(), results_of(work), work.chosen()
    rows = collections.defaultdict(collections.Counter)
    survivors = []
    for f in faults:
        r = results.get(f['key'])
        result = r['result'] if r else 'not run'
        why = same.get((f['file'], f['kind'], f['original'], f['mutated'] or '-'))
        if result in ('survived', 'unreached'):
            if why:
                result = 'equivalent'
            else:
                survivors.append((f, result))
        for row in (f['room'], 'core rooms' if f['room'] in CORE else 'edges', 'all'):
            rows[row][result] += 1
    out = ['| room | faults | killed | survived | unreached | equivalent | killed of those that differ |', '|---|---|---|---|---|---|---|']
    for row in CORE + ['core rooms'] + EDGES + ['edges', 'all']:
        c = rows[row]
        total = sum(c.values()) - c['not run']
        percent = f"{100 * c['killed'] / (total - c['equivalent']):.0f} %" if total > c['equivalent'] else ''
        name = f'**{row}**' if row in ('core rooms', 'edges', 'all') else row
        out.append(f"| {name} | {total} | {c['killed']} | {c['survived']} | {c['unreached']} | {c['equivalent']} | {percent} |")
    kinds = collections.defaultdict(collections.Counter)
    for f in faults:
        kinds[f['kind']][results.get(f['key'], {}).get('result', 'not run')] += 1
    out += ['', '| kind | faults | killed | survived | unreached |', '|---|---|---|---|---|']
    out += [f"| {k} | {sum(c.values()) - c['not run']} | {c['killed']} | {c['survived']} | {c['unreached']} |" for k, c in sorted(kinds.items())]
    not_run = rows['all']['not run']
    if not_run:
        out += ['', f'{not_run} were not run.']
    out += ['', '## Survivors', '', '| place | kind | from | to | |', '|---|---|---|---|---|']

    def code(text):
        text = text if len(text) <= 110 else text[:107] + '...'
        return '`` ' + text.replace('|', '\\|') + ' ``' if text else 'removed'
    for f, result in survivors:
        out.append(f"| {f['file'][4:]}:{f['line']} | {f['kind']} | {code(f['original'])} | {code(f['mutated'])} | {result} |")
    return '\n'.join(out) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('step', choices='generate build record run suites report all'.split(), help='all: one after another')
    parser.add_argument('--folder', type=pathlib.Path, default=TOP / 'build/mutants')
    parser.add_argument('--count', type=int, default=480, help='faults to choose (default: %(default)s)')
    parser.add_argument('--sample', type=int, default=0, help='of those, take so many')
    parser.add_argument('--rooms', default=','.join(CORE + EDGES), help='choose in these only: fleet,claim')
    parser.add_argument('--seed', default='1')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--seconds', type=float, default=1e9, help='begin no fault after that time; a later run goes on')
    parser.add_argument('--elsewhere', type=float, default=1e9,
                        help='for each fault, run at most so many seconds of test cases of other rooms')
    parser.add_argument('--ids', default='', help='run these again: 3,17; or "survived", "unreached"')
    parser.add_argument('--only', default='', help='suites: those whose name matches, such as scenes/test_headers')
    options = parser.parse_args()
    rooms = options.rooms.split(',')
    if unknown := set(rooms) - set(CORE + EDGES):
        parser.error(f'no such rooms: {", ".join(sorted(unknown))}')
    work = Work(options.folder.resolve())
    if options.ids in ('survived', 'unreached'):
        ids = {f['id'] for f in work.chosen() if results_of(work).get(f['key'], {}).get('result') == options.ids}
    else:
        ids = {int(n) for n in options.ids.split(',') if n}
    steps = 'generate build record run report'.split() if options.step == 'all' else [options.step]
    for step in steps:
        began = time.time()
        if step == 'generate':
            generate(work, options.count, options.seed, options.sample, rooms)
        elif step == 'build':
            build(work, options.jobs)
        elif step == 'record':
            record(work, options.jobs)
        elif step == 'suites':
            run_suites(work, options.jobs, options.seconds, ids, min(options.elsewhere, 60), options.only)
        elif step == 'run':
            run(work, options.jobs, options.seconds, ids, options.elsewhere)
        else:
            print(report(work))
        print(f'{step}: {time.time() - began:.0f} s', file=sys.stderr, flush=True)


if __name__ == '__main__':
    main()
